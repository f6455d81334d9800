/* Several files as one archive, not compressed: [{name, bytes}] to a Blob. */
function zipOf(files) {
  const table = Uint32Array.from({length: 256}, (_, i) => { for (let k = 0; k < 8; k++) i = i & 1 ? 0xedb88320 ^ i >>> 1 : i >>> 1; return i; });
  const crc = bytes => { let c = ~0; for (const b of bytes) c = table[(c ^ b) & 255] ^ c >>> 8; return ~c >>> 0; };
  const record = (signature, ...fields) => { // [size, value]...
    const bytes = [0x50, 0x4b, ...signature];
    for (const [size, value] of fields) for (let k = 0; k < size; k++) bytes.push(value / 2 ** (8 * k) & 255);
    return Uint8Array.from(bytes);
  };
  const parts = [], list = [];
  let at = 0, listed = 0;
  for (const {name, bytes} of files) {
    const text = new TextEncoder().encode(name);
    const same = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, crc(bytes)], [4, bytes.length], [4, bytes.length], [2, text.length], [2, 0]];
    const head = record([3, 4], ...same), entry = record([1, 2], [2, 20], ...same, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]);
    parts.push(head, text, bytes);
    list.push(entry, text);
    at += head.length + text.length + bytes.length;
    listed += entry.length + text.length;
  }
  const tail = record([5, 6], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, listed], [4, at], [2, 0]);
  return new Blob([...parts, ...list, tail]);
}
