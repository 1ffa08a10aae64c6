// The rule set on disk, through the injected reader.
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import type { SourceReader, SourceText } from '../text/source.js';
import { generationOf, supportedVersions, type Generation } from './generations.js';

/** An unpacked OWASP CRS release. */
export interface CoreRuleSet {
  /** e.g. `4.25.1`. */
  readonly version: string;
  /** What the rules of this version do in another way than those of version 4. */
  readonly generation: Generation;
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

/** Files are named by their place in the rule set: where it lies on this machine is none of the artifact's business. */
function readAll(reader: SourceReader, directory: string, pattern: string): SourceText[] {
  const paths = [...reader.glob(`${directory}/${pattern}`)].sort((left, right) =>
    left < right ? -1 : left > right ? 1 : 0,
  );
  const folder = pattern.slice(0, pattern.indexOf('/'));
  return paths.flatMap((path) => {
    const text = reader.read(path);
    return text === null ? [] : [{ path, text, name: `${folder}/${path.slice(path.lastIndexOf('/') + 1)}` }];
  });
}

export interface LoadedCoreRuleSet {
  /** null when the directory holds no CRS that the settings support; the diagnostics say why. */
  readonly crs: CoreRuleSet | null;
  readonly diagnostics: readonly Diagnostic[];
}

const initializationFile = 'REQUEST-901-INITIALIZATION.conf';

/** The version that the text of its first rule file states (`SecComponentSignature`), e.g. `4.25.1`; null: none. */
function versionStatedIn(initialization: string): string | null {
  return /SecComponentSignature\s+"OWASP_CRS\/(\d+\.\d+\.\d+)[^"]*"/.exec(initialization)?.[1] ?? null;
}

/**
 * The version of the rule set in `directory` by its signature; null where there is none that the settings support.
 */
export function supportedVersionIn(directory: string, reader: SourceReader): string | null {
  const version = versionStatedIn(reader.read(`${directory}/rules/${initializationFile}`) ?? '');
  return version === null || generationOf(version) === null ? null : version;
}

/** Reads the rules below `directory`, sorted by name; data files are read when the rules are compiled. */
export function loadCoreRuleSet(directory: string, reader: SourceReader): LoadedCoreRuleSet {
  const diagnostics = new Diagnostics();
  const files = readAll(reader, directory, 'rules/*.conf');
  const version = versionStatedIn(files.find(({ path }) => path.endsWith(initializationFile))?.text ?? '');
  const generation = version === null ? null : generationOf(version);
  if (version === null || generation === null) {
    const found =
      version === null ? `rules/${initializationFile} with its signature is not there` : `it says ${version}`;
    diagnostics.reportSetting('GH-C7003', `${directory} holds no ${supportedVersions} (${found})`, '');
    return { crs: null, diagnostics: diagnostics.list };
  }
  const rules = files.flatMap((source) => generation.adapt(source) ?? []);
  const example = reader.read(`${directory}/crs-setup.conf.example`);
  const stated = /setvar:'?tx\.crs_setup_version=(\d+)/i.exec(example ?? '');
  const tags = new Set<string>();
  for (const { text } of rules) for (const match of text.matchAll(/tag:'([^']+)'/g)) tags.add(match[1] as string);
  const crs: CoreRuleSet = {
    version,
    generation,
    setupVersion: Number(stated?.[1] ?? version.replaceAll('.', '')),
    rules,
    pluginsBefore: [
      ...readAll(reader, directory, 'plugins/*-config.conf'),
      ...readAll(reader, directory, 'plugins/*-before.conf'),
    ],
    pluginsAfter: readAll(reader, directory, 'plugins/*-after.conf'),
    tags,
  };
  return { crs, diagnostics: [] };
}
