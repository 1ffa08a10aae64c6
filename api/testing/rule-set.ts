// A rule set of a few rules of our own that the policy takes for a CRS release: tests of the change road need rules
// that compile in a moment, not the ones that protect.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeDirectory } from './temporary.js';

const family = ['OWASP', 'CRS'].join('_');
/** Every tag that a category switches; the policy refuses rule sets that lack one. */
const tags = [
  'ATTACK-XSS',
  'ATTACK-RCE',
  'WEB-SHELLS',
  'ATTACK-PHP',
  'ATTACK-JAVA',
  'ATTACK-GENERIC',
  'ATTACK-LFI',
  'ATTACK-RFI',
  'PROTOCOL-ENFORCEMENT',
  'PROTOCOL-ATTACK',
  'MULTIPART-ATTACK',
  'METHOD-ENFORCEMENT',
  'SCANNER-DETECTION',
  'ATTACK-SESSION-FIXATION',
  'DATA-LEAKAGES',
  'DATA-LEAKAGES-SQL',
  'DATA-LEAKAGES-JAVA',
  'DATA-LEAKAGES-PHP',
  'DATA-LEAKAGES-IIS',
  'DATA-LEAKAGES-RUBY',
];

export async function writeRuleSet(t: Test): Promise<string> {
  const directory = await makeDirectory(t, 'rules');
  await mkdir(join(directory, 'rules'));
  const rules = [
    `SecComponentSignature "${family}/${[4, 99, 0].join('.')}"`,
    `SecRule ARGS "@detectSQLi" "id:942100,phase:2,deny,status:403,log,msg:'injection',tag:'${family}/ATTACK-SQLI'"`,
    ...tags.map(
      (tag, index) =>
        `SecRule ARGS "@contains marker-of-${tag.toLowerCase()}-" ` +
        `"id:${930_000 + index},phase:2,deny,status:403,log,msg:'${tag}',tag:'${family}/${tag}'"`,
    ),
  ];
  await writeFile(join(directory, 'rules', 'REQUEST-901-INITIALIZATION.conf'), `${rules.join('\n')}\n`);
  return directory;
}
