// The backup that the control plane asks for on its schedule: the command itself, as a process beside it, so that
// neither its work nor its memory is the control plane's.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { BackupReport, RunBackup } from '#api/main';
import { environmentFor, type Values } from '#settings/environment';
import { root } from '../environment/directories.js';

const saidMax = 4000;

/** What the command said, for the operator: of an error with a stack only its message. The cause has all of it. */
function failureOf(said: string, code: number | null): Error {
  const text = said.trim().replace(/^gatehouse: /, '');
  const [, thrown] = /^(?:[A-Z]\w*)?Error(?: \[\w+\])?: (.+)\n\s+at /m.exec(text) ?? [];
  return new Error((thrown ?? text) || `it ended with ${code}`, { cause: new Error(text) });
}

/** `values`: those that the control plane runs with. */
export const backupRunner =
  (values: Values): RunBackup =>
  ({ isSealedWhole, keep, signal }) =>
    new Promise((resolve, reject) => {
      const child = spawn(
        process.execPath,
        [
          join(root, 'bin/gatehouse'),
          'backup',
          '--json',
          '--check',
          `--keep=${keep}`,
          ...(isSealedWhole ? ['--encrypt'] : []),
        ],
        {
          env: environmentFor('control plane', { ...process.env, ...values }),
          stdio: ['ignore', 'pipe', 'pipe'],
          signal,
        },
      );
      let [out, said] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-saidMax)));
      child.on('error', reject);
      child.on('close', (code) => {
        if (code !== 0) return reject(failureOf(said, code));
        try {
          resolve(JSON.parse(out) as BackupReport);
        } catch {
          reject(new Error(`the command said no report: ${out.slice(0, 200)}`));
        }
      });
    });
