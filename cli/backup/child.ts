// A command of this program as a process beside the control plane, so that neither its work nor its memory is the
// control plane's.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { environmentFor, type Values } from '#settings/environment';
import { root } from '../environment/directories.js';

const saidMax = 4000;

/** What the command said, for the operator: of an error with a stack only its message. The cause has all of it. */
function failureOf(said: string, code: number | null): Error {
  const text = said.trim().replace(/^gatehouse: /, '');
  const [, thrown] = /^(?:[A-Z]\w*)?Error(?: \[\w+\])?: (.+)\n\s+at /m.exec(text) ?? [];
  return new Error((thrown ?? text) || `it ended with ${code}`, { cause: new Error(text) });
}

/** What it prints; `values` are those that the control plane runs with. Rejects with words for a person. */
export const runCommand = (values: Values, words: readonly string[], signal?: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'bin/gatehouse'), ...words], {
      env: environmentFor('control plane', { ...process.env, ...values }),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    });
    let [out, said] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-saidMax)));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(failureOf(said, code))));
  });

/** The report that a command prints with --json. */
export function reportIn<T>(out: string): T {
  try {
    return JSON.parse(out) as T;
  } catch {
    throw new Error(`the command said no report: ${out.slice(0, 200)}`);
  }
}
