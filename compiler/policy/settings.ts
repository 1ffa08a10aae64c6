// What the compiler takes of the settings, and which tags of the rule set a category stands for.
import type { CategoryKey, RuleSettings } from '#settings';

export type CustomRule = RuleSettings['custom_rules'][number];
/** `seclang` is the rule: who has the catalogue has put it there. */
export type VirtualPatch = RuleSettings['virtual_patches'][number];

/** The CRS tags of each category; compared whole, never as prefixes. */
export const categoryTags: Readonly<Record<CategoryKey, readonly string[]>> = {
  sqli: ['OWASP_CRS/ATTACK-SQLI'],
  xss: ['OWASP_CRS/ATTACK-XSS'],
  rce: ['OWASP_CRS/ATTACK-RCE', 'OWASP_CRS/WEB-SHELLS'],
  php: ['OWASP_CRS/ATTACK-PHP'],
  java: ['OWASP_CRS/ATTACK-JAVA'],
  generic: ['OWASP_CRS/ATTACK-GENERIC'],
  lfi: ['OWASP_CRS/ATTACK-LFI'],
  rfi: ['OWASP_CRS/ATTACK-RFI'],
  protocol: ['OWASP_CRS/PROTOCOL-ENFORCEMENT', 'OWASP_CRS/PROTOCOL-ATTACK', 'OWASP_CRS/MULTIPART-ATTACK'],
  method: ['OWASP_CRS/METHOD-ENFORCEMENT'],
  scanner: ['OWASP_CRS/SCANNER-DETECTION'],
  fixation: ['OWASP_CRS/ATTACK-SESSION-FIXATION'],
  dataleak: [
    'OWASP_CRS/DATA-LEAKAGES',
    'OWASP_CRS/DATA-LEAKAGES-SQL',
    'OWASP_CRS/DATA-LEAKAGES-JAVA',
    'OWASP_CRS/DATA-LEAKAGES-PHP',
    'OWASP_CRS/DATA-LEAKAGES-IIS',
    'OWASP_CRS/DATA-LEAKAGES-RUBY',
  ],
};
