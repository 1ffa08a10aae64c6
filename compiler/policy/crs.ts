// The rule set on disk, through the injected reader.
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import type { SourceReader, SourceText } from '../text/source.js';

/** An unpacked OWASP CRS release. */
export interface CoreRuleSet {
  /** e.g. `4.25.1`. */
  readonly version: string;
  /** What tx.crs_setup_version must be, e.g. 4251. */
  readonly setupVersion: number;
  readonly rules: readonly SourceText[];
  /**
   * Plugins by the CRS convention: `*-config.conf` and `*-before.conf` before the rules, `*-after.conf` behind them.
   */
  readonly pluginsBefore: readonly SourceText[];
  readonly pluginsAfter: readonly SourceText[];
  /** Every tag that the rules carry. */
  readonly tags: ReadonlySet<string>;
}

function readAll(reader: SourceReader, pattern: string): SourceText[] {
  const paths = [...reader.glob(pattern)].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0));
  return paths.flatMap((path) => {
    const text = reader.read(path);
    return text === null ? [] : [{ path, text }];
  });
}

export interface LoadedCoreRuleSet {
  /** null when the directory holds no CRS v4; the diagnostics say why. */
  readonly crs: CoreRuleSet | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the rules below `directory`, sorted by name; data files are read when the rules are compiled. */
export function loadCoreRuleSet(directory: string, reader: SourceReader): LoadedCoreRuleSet {
  const diagnostics = new Diagnostics();
  const rules = readAll(reader, `${directory}/rules/*.conf`);
  const initialization = rules.find(({ path }) => path.endsWith('REQUEST-901-INITIALIZATION.conf'));
  const version = /SecComponentSignature\s+"OWASP_CRS\/(\d+)\.(\d+)\.(\d+)[^"]*"/.exec(initialization?.text ?? '');
  if (version === null || version[1] !== '4') {
    diagnostics.reportSetting(
      'GH-C7003',
      `${directory} holds no OWASP CRS v4 (rules/REQUEST-901-INITIALIZATION.conf with its signature)`,
      '',
    );
    return { crs: null, diagnostics: diagnostics.list };
  }
  const [, major = '', minor = '', patch = ''] = version;
  const example = reader.read(`${directory}/crs-setup.conf.example`);
  const stated = /setvar:'?tx\.crs_setup_version=(\d+)/i.exec(example ?? '');
  const tags = new Set<string>();
  for (const { text } of rules) for (const match of text.matchAll(/tag:'([^']+)'/g)) tags.add(match[1] as string);
  const crs: CoreRuleSet = {
    version: `${major}.${minor}.${patch}`,
    setupVersion: stated === null ? Number(`${major}${minor}${patch}`) : Number(stated[1]),
    rules,
    pluginsBefore: [
      ...readAll(reader, `${directory}/plugins/*-config.conf`),
      ...readAll(reader, `${directory}/plugins/*-before.conf`),
    ],
    pluginsAfter: readAll(reader, `${directory}/plugins/*-after.conf`),
    tags,
  };
  return { crs, diagnostics: [] };
}
