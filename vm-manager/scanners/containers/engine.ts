// The files of an image: packages of its distribution and of languages, each with the layer that brought it, secrets
// (also in what a later layer removed), and its configuration beside the rules.
import {
  failed,
  nothing,
  together,
  type Engine,
  type Finding,
  type FoundPackage,
  type InputFile,
  type Outcome,
} from '../contract.js';
import { ScaEngine } from '../sca/engine.js';
import { jsonOf, purlOf, textOf } from '../sca/listing.js';
import { secretsEngine } from '../secrets/engine.js';
import { isLockFile, isNodePackage, isPythonPackage, mayHoldSecrets } from './files.js';
import { summaryPath, unmarked, type Marked, type Summary } from './image-source.js';
import { blocksOf, type Installed } from './packages/database.js';
import { databaseOf, isRelease, readDatabase, type Database } from './packages/places.js';
import { purlOfInstalled, readRelease, type Release } from './packages/release.js';
import { imageRules } from './rules.js';

/** Where findings about the configuration stand. */
const configPath = 'image configuration';

interface Listed {
  readonly at: Marked;
  readonly database: Database;
  readonly installed: readonly Installed[];
}

const keyOf = ({ name, version, arch }: Installed): string => `${name}\n${version}\n${arch}`;

export class ImageEngine implements Engine {
  readonly #lists: Listed[] = [];
  readonly #languages = new ScaEngine();
  readonly #layerOf = new Map<string, number>();
  #summary: Summary | null = null;
  #release: Release | null = null;
  /** A later layer has its own; etc is a link to usr/lib in most. */
  #releaseLayer = -1;
  #hasPackages = false;

  async take(file: InputFile): Promise<Outcome> {
    if (file.path === summaryPath) {
      this.#summary = jsonOf(file.bytes.toString('utf8')) as unknown as Summary;
      return { ...nothing, scanned: [configPath] };
    }
    const at = unmarked(file.path);
    const { path, layer } = at;
    try {
      const made = await this.#takeAt(at, { path, bytes: file.bytes });
      return together([made, at.isNow || mayHoldSecrets(path) ? { ...nothing, scanned: [path] } : nothing]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return failed(path, `cannot be read (${why.slice(0, 200)}), layer ${layer}`);
    }
  }

  async #takeAt(at: Marked, file: InputFile): Promise<Outcome> {
    const { path, layer, isNow } = at;
    const database = databaseOf(path);
    if (database !== null) {
      this.#lists.push({ at, database, installed: readDatabase(database, path, file.bytes) });
      return nothing;
    }
    if (isRelease(path)) {
      if (layer >= this.#releaseLayer) this.#release = readRelease(file.bytes.toString('utf8'));
      this.#releaseLayer = Math.max(layer, this.#releaseLayer);
      return nothing;
    }
    const parts: Outcome[] = [];
    if (isNow && isNodePackage(path)) parts.push(nodePackage(file));
    if (isNow && isPythonPackage(path)) parts.push(pythonPackage(file));
    if (isNow && isLockFile(path)) parts.push(this.#languages.take(file));
    if (isNow) this.#layerOf.set(path, layer);
    if (mayHoldSecrets(path)) parts.push(await this.#secretsOf(at, file));
    const made = together(parts);
    this.#hasPackages ||= made.packages.length > 0;
    return withLayer(made, layer);
  }

  async #secretsOf({ isNow, layer }: Marked, file: InputFile): Promise<Outcome> {
    const found = await secretsEngine.take(file);
    const where = isNow ? `layer ${layer}` : `layer ${layer}, removed by a later one: it is still in the image`;
    // programs and pictures hold no text to look at; so it is in the scan of files
    return {
      ...found,
      notScanned: [],
      findings: found.findings.map((one) => ({ ...one, message: `${one.message} (${where})` })),
    };
  }

  async end(): Promise<Outcome> {
    // what is installed counts: a manifest without a lock file tells nothing of an image
    const outcome = { ...this.#languages.end(), notScanned: [] };
    const packages = outcome.packages.map((one) => ({ ...one, layer: this.#layerOf.get(one.path) ?? 0 }));
    return together([
      { ...outcome, packages },
      this.#ofDistribution(),
      await this.#ofConfiguration(),
      this.#unknown(this.#hasPackages || packages.length > 0),
    ]);
  }

  /** Of a package the lowest layer whose database has it, and has it from there on. */
  #ofDistribution(): Outcome {
    const packages: FoundPackage[] = [];
    for (const { at, database, installed } of this.#lists.filter((one) => one.at.isNow)) {
      const earlier = this.#lists.filter((one) => one.at.path === at.path && one.at.layer < at.layer);
      const inLayer = earlier.map((one) => ({ layer: one.at.layer, keys: new Set(one.installed.map(keyOf)) }));
      for (const one of installed) {
        const layers = inLayer.filter(({ keys }) => keys.has(keyOf(one))).map(({ layer }) => layer);
        packages.push({
          purl: purlOfInstalled(database, one, this.#release),
          ...{ name: one.name, version: one.version, path: at.path, line: null },
          ...{ scope: 'runtime', relation: 'unknown', layer: Math.min(at.layer, ...layers) },
        });
      }
    }
    return { ...nothing, packages };
  }

  async #ofConfiguration(): Promise<Outcome> {
    const summary = this.#summary;
    if (summary === null) return failed(configPath, 'the configuration of the image was not read');
    const subject = { ...summary, release: this.#release, today: new Date().toISOString().slice(0, 10) };
    const findings = imageRules.flatMap((rule) =>
      rule.check(subject).map(
        ({ message = rule.title, path = configPath, address = '' }): Finding => ({
          ...{ rule: rule.id, path, line: 1, message: `${rule.title}: ${message}`, address },
          fingerprint: `${rule.id} ${address}`,
        }),
      ),
    );
    return { ...nothing, findings };
  }

  /** An image without a list of packages is no clean one. */
  #unknown(hasPackages: boolean): Outcome {
    if (this.#lists.some(({ at }) => at.isNow)) return nothing;
    if (this.#release === null)
      return hasPackages
        ? nothing
        : failed(configPath, 'no list of packages is in the image: what it is made of is unknown');
    return failed(configPath, `the packages of ${this.#release.name} are listed in no form that is known`);
  }
}

const withLayer = (outcome: Outcome, layer: number): Outcome => ({
  ...outcome,
  packages: outcome.packages.map((one) => ({ ...one, layer })),
});

const found = (type: 'npm' | 'pypi', name: string, version: string, path: string): Outcome =>
  name === '' || version === ''
    ? nothing
    : {
        ...nothing,
        packages: [
          {
            ...{ purl: purlOf(type, name, version), name, version, path, line: null },
            ...{ scope: 'runtime', relation: 'unknown' },
          },
        ],
      };

function nodePackage({ path, bytes }: InputFile): Outcome {
  const one = jsonOf(bytes.toString('utf8'));
  return found('npm', textOf(one['name']), textOf(one['version']), path);
}

function pythonPackage({ path, bytes }: InputFile): Outcome {
  const [head] = blocksOf(bytes.toString('utf8').replaceAll('\r', ''));
  return found('pypi', head?.get('Name') ?? '', head?.get('Version') ?? '', path);
}
