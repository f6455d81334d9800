# SPDX-License-Identifier: Apache-2.0
"""weights.py -- weight streams of both formats decoded, and the order in which the machines read weights."""

from __future__ import annotations

from .stream import require, sx


SLACK = 0  # bytes that a decoder may read past the end


class Bits:
    def __init__(self, b):
        self.b = bytes(b) + bytes(32)
        self.n = len(b) * 8
        self.p = 0

    def get(self, k):
        i = self.p >> 3
        r = (int.from_bytes(self.b[i : i + (k + 14 >> 3)], "little") >> (self.p & 7)) & (
            (1 << k) - 1
        )
        self.p += k
        require(self.p <= self.n + 8 * SLACK, "the weight stream is cut off")
        return r


def mlw_decode(data):
    """standard weight stream: returns the list of signed weights"""
    b = Bits(data)
    out = []
    pal = []
    palbits = 0
    diroff = 0
    palsize = 0
    while True:
        if b.n - b.p < 3:
            break
        zdiv = b.get(3)
        if zdiv == 7:  # end of stream: align to a byte, go on if bytes are left
            b.p = (b.p + 7) & ~7
            if b.p >= b.n:
                break
            continue
        runs = zdiv != 6
        n = b.get(15) + 1
        wdiv = b.get(3)
        trunc = b.get(1)
        new = b.get(1)
        if new:
            diroff = b.get(5)
            palsize = b.get(5)
            palsize += palsize > 0
            palbits = b.get(3) + 2
            pal = [b.get(palbits) for _ in range(palsize)]
        unc = wdiv == 7
        if unc:
            wdiv = (palsize - 1).bit_length() if palsize else palbits
        nz = n + (1 if new else 0)
        wv = []
        zv = []
        wp = zp = 0
        wq = zq = 0
        pw = pz = None
        zlen = 12 if zdiv < 3 else 8
        while True:
            bal = wp - zp if runs else 0
            we = (bal < 8 or not runs) and wp < n
            ze = runs and bal >= 0 and zp < nz
            u0 = b.get(12) if we and not unc else 0
            cz = []
            if ze:
                zu = b.get(zlen)
                for i in range(zlen):
                    if zu >> i & 1:
                        zq += 1
                    else:
                        cz.append(zq)
                        zq = 0
                zp += len(cz)
            cw = []
            if we:
                mx = 8 if unc and wdiv > 5 else 12
                k = bin(u0 & ((1 << mx) - 1)).count("1")
                u1 = b.get(k) if k else 0
                for i in range(mx):
                    if len(cw) >= n - wp:
                        break
                    code = 0
                    if u0 >> i & 1:
                        code = 1 + (u1 & 1)
                        u1 >>= 1
                    wq += code
                    if code < 2 or trunc:
                        cw.append(wq)
                        wq = 0
                wp += len(cw)
            if pw is not None:
                for q in pw:
                    if len(wv) < n:
                        wv.append((q << wdiv) + b.get(wdiv))
            if pz is not None:
                for q in pz:
                    if len(zv) < nz:
                        zv.append((q << zdiv) + (b.get(zdiv) if zdiv else 0))
            pw = cw if we else None
            pz = cz if ze else None
            if pw is None and pz is None:
                break
        j = 0
        if runs and new:
            out += [0] * zv[0]
            j = 1
        for i, x in enumerate(wv):
            v = pal[x] if x < palsize else x - palsize + diroff
            out.append(-(v >> 1) if v & 1 else v >> 1)
            if runs:
                out += [0] * zv[i + j]
    return out


def fwd_decode(data, count):
    """U85 fast weight format: 32-byte header, then raw bytes, 4-bit or 2-bit table indices"""
    b = Bits(data)
    raw = b.get(1)
    small = b.get(1)
    b.get(102)
    adj = sx(b.get(8), 8)
    lut = [b.get(9) for _ in range(16)]
    lut = [-(v >> 1) if v & 1 else v >> 1 for v in lut]
    require(b.p == 256, "the header of fast weights is cut")
    if raw:
        return [sx(b.get(8), 8) - adj for _ in range(count)]
    if small:
        return [lut[b.get(2)] for _ in range(count)]
    return [lut[b.get(4)] for _ in range(count)]


def order_u55(oc, kh, kw, ic, blk, mode, ifm_bits, dil, ou, iu, cores=1, core=0):
    """indices (oc, ky, kx, ic) or None in stream order. mode: 'depth', 'part', 'dw'. oc counts this core's channels"""
    part = mode == "part"
    dw = mode == "dw"
    ib = 16 if part or ifm_bits == 16 else 32
    rnd = 4 if dw else ((2 if ifm_bits == 16 else 4) if part else 1)
    dy, dx = 8 // dil[0], 8 // dil[1]
    sb = (blk + cores - 1 - core) // cores
    for ob in range(0, oc, sb):
        cob = min(sb, oc - ob)
        for ibz in range(0, 1 if dw else ic, ib):
            cib = iu if dw else (min(ib, ic - ibz) if part else ib)
            for sy in range(0, kh, dy):
                sh = min(kh - sy, dy)
                for sxx in range(0, kw, dx):
                    sw = min(kw - sxx, dx)
                    ne = -(-sh * sw // rnd) * rnd
                    outer = cib if part else 1
                    inner = 1 if part else cib
                    for uo in range(0, outer, iu):
                        for ofu in range(0, cob, ou):
                            for e in range(ne):
                                kx = e % sw
                                ky = e // sw
                                for ui in range(0, inner, iu):
                                    for oz in range(ou):
                                        for iz in range(1 if dw else iu):
                                            z = ibz + ui + uo + iz
                                            o = ob + ofu + oz
                                            # channels past the block belong to the next block: stop at the stream's depth only
                                            yield (
                                                (o, sy + ky, sxx + kx, z)
                                                if z < ic and o < oc and ky < sh
                                                else None
                                            )


def order_u85(
    oc, kh, kw, ic, blk, ibd, mode, ifm_bits, dil, stride, ou, macs, sparse=False, cores=1, core=0
):
    part = mode == "part"
    dw = mode == "dw"
    i16 = ifm_bits == 16
    st = stride
    if part:
        rnd = 10 if i16 or sparse else 5
        iud = 8 if i16 and not sparse else ibd
    elif dw:
        rnd = 10
        iud = 1
    else:
        st = (1, 1)
        rnd = 1
        iud = ibd
    dy, dx = 8 // dil[0], 8 // dil[1]
    dwpad = 0 if (not i16 and macs <= 256) else (2 if macs <= 512 else 6)
    step = 1 if dw else (16 if sparse else 8)
    ib_list = list(range(0, 1 if dw else ic, ibd))
    fwd = True
    for ob in range(0, oc, blk):
        cob = min(blk, oc - ob)
        seq = ib_list if fwd else ib_list[::-1]
        fwd = not fwd
        for ibz in seq:
            cib = min(ibd, ic - ibz)
            for sxx in range(0, kw, dx):
                sw = min(kw - sxx, dx)
                for sy in range(0, kh, dy):
                    sh = min(kh - sy, dy)
                    for uo in range(0, 1 if dw else cib, iud):
                        for ofo in range(0, cob, ou):
                            left = -(-sw * sh // rnd) * rnd
                            for ty in range(st[0]):
                                skh = (sh + st[0] - 1 - ty) // st[0]
                                for tx in range(st[1]):
                                    skw = (sw + st[1] - 1 - tx) // st[1]
                                    for ky in range(skh):
                                        for kx in range(skw):
                                            x = kx if ky % 2 == 0 else skw - 1 - kx
                                            left -= 1
                                            wx = sxx + tx + x * st[1]
                                            wy = sy + ty + ky * st[0]
                                            for ui in range(0, iud, step):
                                                for oz in range(core * 4, ou, 4 * cores):
                                                    for oi in range(4):
                                                        for iz in range(step):
                                                            z = ibz + uo + ui + iz
                                                            o = ob + ofo + oi + oz
                                                            yield (
                                                                (o, wy, wx, z)
                                                                if z < ic and o < oc
                                                                else None
                                                            )
                                            if dw and left % rnd == 0:
                                                for _ in range(dwpad * ou // cores):
                                                    yield None
                            if left > 0:
                                for _ in range((left + (dwpad if dw else 0)) * iud * ou // cores):
                                    yield None
