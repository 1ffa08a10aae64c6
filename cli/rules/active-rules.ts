// The rules that serve, for commands that ask them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeArtifact } from '#engine';
import type { Program } from '#engine/compile';
import { compileProgram } from '#compiler';
import { toProxyConfig, upstreamDefaults, type ProxyConfig } from '#proxy/contract';
import { dataPlaneDefaults, defaultSettings } from '#settings';
import { dataDirectory } from '../environment/directories.js';
import { readSettings } from '../local-settings/settings-file.js';
import { Refusal } from '../refusal.js';
import { formatErrors } from './load-rules.js';
import { gatherSources, readerWithMapping } from './policy-sources.js';

export interface NamedProgram {
  readonly program: Program;
  /** Where the rules come from, for people. */
  readonly name: string;
  /** What the gates go by; null: only rules are known. */
  readonly config: ProxyConfig | null;
}

interface Stored {
  readonly id: number;
  readonly sha256: string;
  readonly config?: ProxyConfig;
}

/** The program that the data plane keeps as the active one; null where none has served yet. */
function readActive(): NamedProgram | null {
  const path = join(dataDirectory(), 'current.json');
  if (!existsSync(path)) return null;
  try {
    const { id, sha256, config = null } = JSON.parse(readFileSync(path, 'utf8')) as Stored;
    if (sha256 === '') return null; // it serves without rules
    const artifact = readFileSync(join(dataDirectory(), 'artifacts', sha256));
    // A configuration of an earlier release has no members for what is newer: a node takes the defaults for them, too.
    const whole = config === null ? null : { ...dataPlaneDefaults(), ...config };
    return { program: decodeArtifact(artifact).program, name: `generation ${id} of ${path}`, config: whole };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal(
      `${path}: the rules that it names cannot be read (${why}). Give --settings FILE or --rules GLOB.`,
    );
  }
}

/** The rules that serve; before any did those of data/settings.json, or of the defaults where there is no such file. */
export function loadActive(): NamedProgram {
  const usual = join(dataDirectory(), 'settings.json');
  return readActive() ?? compileSettings(existsSync(usual) ? usual : undefined);
}

const configOf = (path: string | undefined): ProxyConfig =>
  toProxyConfig(
    path === undefined ? defaultSettings() : readSettings(path, () => {}, 'compile'),
    upstreamDefaults(process.env),
  );

/**
 * The program of a settings file; undefined = of the defaults. Refused with every error of the settings or the rules.
 */
export function compileSettings(path: string | undefined): NamedProgram {
  const name = path ?? 'the defaults';
  const reader = readerWithMapping();
  const { sources, diagnostics } = gatherSources({ settings: path, rules: [], crs: undefined }, reader);
  const compiled = sources === null ? null : compileProgram(sources, { reader });
  if (compiled?.program != null) return { program: compiled.program, name, config: configOf(path) };
  throw new Refusal(`${name}: cannot be used.\n${formatErrors([...diagnostics, ...(compiled?.diagnostics ?? [])])}`);
}
