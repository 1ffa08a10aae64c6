// What is known of tools: which kind of finding they report, which of their rules are about security, and how their
// SARIF says what their own format says. A tool that is not listed is never hidden: its findings are security.
import type { Source } from '../../findings/words.js';
import { linters } from './linters.js';
import type { ToolProfile } from './profile.js';
import { scanners } from './scanners.js';

const profiles: readonly ToolProfile[] = [...scanners, ...linters];

/** Whose tool it is, before its name. */
const vendor = new RegExp(
  '^(?:owasp|aqua(?: ?sec(?:urity)?)?|anchore|bridgecrew|prisma cloud|project ?discovery|yelp|praet' +
    'orian|checkmarx|pycqa|securego|truffle ?security|r2c|returntocorp|google|github|microsoft|samsun' +
    'g|bearer|apple|jetbrains|pylint-dev|astral)[-_ /:]+',
  'i',
);

/** Who ran it, behind its name: `ESLint (MegaLinter JAVASCRIPT_ES)`. */
const runner = / \((?:mega-?linter|super-?linter|reviewdog|via|trunk|codacy|qodana)\b[^)]{0,100}\)$/i;

const found = new Map<string, ToolProfile | null>();

/** By the name that a report gives; null: nobody knows it, so that nothing of it is hidden. */
export function profileOf(tool: string): ToolProfile | null {
  const name = tool.trim().slice(0, 200);
  const known = found.get(name);
  if (known !== undefined) return known;
  const bare = name.replace(runner, '').replace(vendor, '');
  const profile = profiles.find(({ names }) => names.test(name) || (bare !== name && names.test(bare))) ?? null;
  if (found.size < 1000) found.set(name, profile);
  return profile;
}

/** As the hub spells it, whatever the report does. */
export const canonicalName = (tool: string): string => profileOf(tool)?.name ?? tool;

/** Tags of rules, of any tool, that say which kind a finding is. */
export const kindOfTag: Readonly<Record<string, Source>> = {
  secret: 'secret',
  secrets: 'secret',
  credentials: 'secret',
  'hardcoded-secret': 'secret',
  dependency: 'sca',
  dependencies: 'sca',
  sca: 'sca',
  'vulnerable-dependency': 'sca',
  'supply-chain': 'sca',
  misconfiguration: 'iac',
  iac: 'iac',
  infrastructure: 'iac',
  terraform: 'iac',
  dockerfile: 'iac',
  kubernetes: 'k8s',
  k8s: 'k8s',
  container: 'container',
  dast: 'dast',
};

/** Tags of rules that are no security where no tag says otherwise (CodeQL, SpotBugs, SonarQube). */
export const qualityTags: ReadonlySet<string> = new Set(
  'maintainability,readability,reliability,style,performance,bad_practice,code_smell,i18n,documentation'.split(','),
);
