// SPDX-License-Identifier: Apache-2.0
// What a caller of the package writes: it is to pass a strict compiler.
import { compile, run, profile, command, TosacError, Answer, CompileOptions } from "tosac";

async function all(): Promise<void> {
  const options: CompileOptions = {
    board: "alif-e7-hp", calib: ["a.npz", "b.npz"], output: "m.pte", maxScratch: "512K", strict: true,
    onProgress: (what, done, total) => { const part: number = done / total; console.log(what.length, part); },
  };
  const answer: Answer = await compile("m.pt2", options);
  const first: string = answer.messages[0].text;
  await run("m.pte", { input: "x.npy" });
  const typed = await profile<{ cycles: number }>("m.pt2", { target: "ethos-u55-128" });
  const cycles: number = typed.result.cycles;
  const { code, out } = await command(["--version"]);
  console.log(first, cycles, code, out.byteLength);
  try { await compile(["a=m.pt2", "b=n.pt2"], { target: "cpu" }); } catch (e) {
    if (e instanceof TosacError) console.log(e.code, e.messages.map(m => m.id));
  }
}
void all();
