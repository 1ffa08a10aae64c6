// What tests of the commands that work with rules share: rules, a request, files, and what a command prints.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A chain that denies, a rule for responses, one of phase 5. */
export const rules = `
SecRuleEngine On
SecRequestBodyAccess On
SecRule ARGS "@contains attack" "id:1,phase:2,deny,status:403,log,msg:'seen %{MATCHED_VAR_NAME}',\
  severity:CRITICAL,tag:'a/b',setvar:tx.score=+5,chain"
  SecRule REQUEST_METHOD "@streq POST"
SecRule RESPONSE_STATUS "@eq 500" "id:2,phase:3,pass,log,msg:'upstream failed'"
SecAction "id:3,phase:5,pass,nolog"
`;

/** Files of a test in a directory of its own: `at(name)` is a path, `at(name, text)` writes it. */
export function setup(t: { testdir: (content: Record<string, never>) => string }): {
  readonly at: (name: string, text?: string) => string;
} {
  const folder = t.testdir({});
  return {
    at: (name, text) => {
      const path = join(folder, name);
      if (text !== undefined) writeFileSync(path, text, 'latin1');
      return path;
    },
  };
}

/** What a command prints, and its exit code. */
export async function captured(run: () => Promise<number>): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const original = console.log;
  console.log = (...parts: unknown[]): void => {
    lines.push(parts.join(' '));
  };
  try {
    return { code: await run(), text: lines.join('\n') };
  } finally {
    console.log = original;
  }
}

export const engine = ['--engine', 'interpreter'];
export const attack = [
  'POST /p HTTP/1.1',
  'Host: a.test',
  'Content-Type: application/x-www-form-urlencoded',
  'Content-Length: 10',
  '',
  'q=attack\xe9x',
].join('\r\n');
