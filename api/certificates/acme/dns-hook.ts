// The operator's program for dns-01. It stands in the environment and nowhere else: who may order certificates must not
// be able to say what runs on this machine. Arguments are passed as they are, without a shell.
import { execFile } from 'node:child_process';
import { environmentFor } from '#settings/environment';

const hookMsMax = 5 * 60_000;

/** `present` returns when the record can be seen. Rejects with the last words of the program. */
export function callDnsHook(
  program: string,
  step: 'present' | 'cleanup',
  name: string,
  value: string,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = environmentFor(null, process.env);
    execFile(
      program,
      [step, `_acme-challenge.${name}`, value],
      { timeout: hookMsMax, env, ...(signal === undefined ? {} : { signal }) },
      (error, _stdout, stderr) => {
        if (error === null) resolve();
        else {
          const said = stderr.trim().slice(-500) || error.message;
          reject(new Error(`ACME_DNS_HOOK failed at ${step} for ${name}: ${said}`, { cause: error }));
        }
      },
    );
  });
}
