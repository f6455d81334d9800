// SPDX-License-Identifier: Apache-2.0
/** A message as on the command line. */
export interface Message {
  severity: "error" | "warning" | "note";
  id: string;
  file: string | null;
  place: string | null;
  node: string | null;
  module: string | null;
  text: string;
  notes: string[];
}

/** What a verb prints with --json (doc/schema of the sources has each), and what it said. */
export interface Answer<T = any> {
  result: T;
  messages: Message[];
}

export type Value = string | number | boolean | undefined;

/** Options are those of the command line: `dumpDir` is --dump-dir, `true` a flag, a list is given again and again. */
export interface Options {
  [option: string]: Value | string[] | ((what: string, done: number, total: number) => void);
  onProgress?: (what: string, done: number, total: number) => void;
}

export interface CompileOptions extends Options {
  target?: string;
  board?: string;
  output?: string;
  emit?: string;
  calib?: string | string[];
  preprocess?: string;
  quant?: string;
  report?: string;
}

export interface RunOptions extends Options {
  input?: string | string[];
  output?: string;
}

export interface ProfileOptions extends Options {
  target?: string;
  calib?: string | string[];
}

/** A verb that failed: its exit code and messages. */
export class TosacError extends Error {
  code: number;
  messages: Message[];
}

export function compile<T = any>(model: string | string[], options: CompileOptions): Promise<Answer<T>>;
export function run<T = any>(program: string, options?: RunOptions): Promise<Answer<T>>;
export function profile<T = any>(program: string, options?: ProfileOptions): Promise<Answer<T>>;

/** The command line itself: the words after `tosac`. */
export function command(words: string[], options?: {
  stdin?: () => number | null;
  progress?: (what: string, done: number, total: number) => void;
}): Promise<{ code: number; out: Uint8Array; err: Uint8Array }>;
