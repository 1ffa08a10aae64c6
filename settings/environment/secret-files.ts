// Secrets from files: `NAME_FILE` names a file whose content stands in for `NAME`, for each row that is a secret. That
// is how Docker, Kubernetes and systemd (`LoadCredential`) hand secrets over: nothing in the environment of a process,
// which its children and /proc show. Pure: the caller reads.
import type { EnvironmentVariable } from './variable.js';

const ending = '_FILE';
/** In characters; a key or a URL is far shorter, a device that never ends is not. */
const secretCharactersMax = 64 * 1024;

export const fileVariableOf = (name: string): string => `${name}${ending}`;

/** Whether `name` is the `…_FILE` of a secret of the table. */
export const isFileVariable = (name: string, rows: readonly EnvironmentVariable[]): boolean =>
  name.endsWith(ending) && rows.some((row) => row.isSecret === true && fileVariableOf(row.name) === name);

export type Secret = { readonly value: string } | { readonly problem: string };

/**
 * What one source says of a variable: its value, or the content of the file that `NAME_FILE` names, without white
 * space at the end; '' where it says nothing. `read` throws where there is no such file. A problem never shows the
 * secret.
 */
export function givenBy(
  row: EnvironmentVariable,
  given: Readonly<Record<string, string | undefined>>,
  read: (file: string) => string,
): Secret {
  const value = given[row.name] ?? '';
  const file = row.isSecret === true ? (given[fileVariableOf(row.name)] ?? '').trim() : '';
  if (file === '') return { value };
  const name = fileVariableOf(row.name);
  if (value !== '') return { problem: `${row.name} and ${name} are both set; keep one of them` };
  let text: string;
  try {
    text = read(file).trimEnd();
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    return { problem: `${name}=${file} cannot be read (${code}); name a file that this user may read` };
  }
  if (text === '') return { problem: `${name}=${file} is empty; put ${row.purpose.split(';')[0]} into it` };
  if (text.length > secretCharactersMax || /[\r\n\0]/.test(text))
    return { problem: `${name}=${file} has more than one line; it must hold the value and nothing else` };
  return { value: text };
}
