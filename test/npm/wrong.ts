// SPDX-License-Identifier: Apache-2.0
// Each statement is refused.
import { compile, TosacError } from "tosac";
void compile(3, { target: "cpu" });
void compile("m.pt2", { target: 5 });
void compile("m.pt2");
new TosacError().codes;
