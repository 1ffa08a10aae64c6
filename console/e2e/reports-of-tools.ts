// Reports as tools write them, for tests: findings that add up to an attack, findings whose texts are hostile (SARIF
// 2.1.0), and what an application is made of (CycloneDX 1.5).

export interface Told {
  readonly title: string;
  readonly cwe: number;
  readonly path: string;
}

/** The way in, code that runs, and a password that it finds. */
export const attackable: readonly Told[] = [
  { title: 'Server-side request forgery in the image proxy', cwe: 918, path: 'src/images/fetch.ts' },
  { title: 'OS command injection in the converter', cwe: 78, path: 'src/images/convert.ts' },
  { title: 'Hard-coded password of the database', cwe: 798, path: 'src/settings/database.ts' },
];

export function sarifOf(findings: readonly Told[], tool = 'house checker'): string {
  const rules = findings.map(({ title, cwe }, index) => ({
    id: `rule-${index}`,
    shortDescription: { text: title },
    fullDescription: { text: `What it is about: ${title}` },
    help: { text: 'Give what comes from outside as an argument.\nNever as a part of a command.' },
    properties: { tags: [`external/cwe/cwe-${cwe}`], 'security-severity': '8.8' },
  }));
  const results = findings.map(({ title, path }, index) => ({
    ruleId: `rule-${index}`,
    level: 'error',
    message: { text: title },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path },
          region: { startLine: index + 1, snippet: { text: '  const one = given;\n  use(one);' } },
        },
      },
    ],
  }));
  return JSON.stringify({
    version: '2.1.0',
    runs: [{ tool: { driver: { name: tool, version: '1.0', rules } }, results }],
  });
}

/** A bill of materials (CycloneDX 1.5) of npm packages, each in version 1.0.0; the root needs the first itself. */
export function billOf(names: readonly string[], licence = 'MIT'): string {
  const components = names.map((name, index) => ({
    type: 'library',
    'bom-ref': `ref-${index}`,
    name,
    version: '1.0.0',
    purl: `pkg:npm/${encodeURIComponent(name)}@1.0.0`,
    licenses: [{ license: { name: licence } }],
  }));
  return JSON.stringify({
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { component: { 'bom-ref': 'root', name: 'root' } },
    components,
    dependencies: [{ ref: 'root', dependsOn: ['ref-0'] }],
  });
}
