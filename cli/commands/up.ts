// `gatehouse up`: starts everything that belongs together, in order, and stops it together.
//
// This process only supervises: the demo, the data plane and the control plane are child processes with their own
// process groups, so that Ctrl-C reaches this one alone and stopping is an orderly, bounded sequence. A child that dies
// is started again with growing pauses; one that never became healthy is a failed start, and everything is stopped.
import { existsSync, fstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { noticeOf, type RuleSetNotice } from '#compiler';
import { controlUrl } from '../environment/control-url.js';
import { root, shown } from '../environment/directories.js';
import { createEnvFile, envFilePath } from '../environment/env-file.js';
import { readFlags } from '../environment/flags.js';
import { closeDirectory } from '../environment/private-files.js';
import { adoptDirectories, readEnvironment } from '../environment/read-environment.js';
import { prepareArtifact } from '../local-settings/artifact.js';
import { readSettings, settingsFile } from '../local-settings/settings-file.js';
import { installCrs } from '../rule-set/install.js';
import { Refusal, wrongUsage } from '../refusal.js';
import { announcement, tryOut, type Control } from '../supervise/announce.js';
import { keepAlive, patientPauses, resuming, urgentPauses } from '../supervise/keep-alive.js';
import { createParts, hadControl, rememberControl, stopParts, type Parts, type Plan } from '../supervise/parts.js';
import { checkPorts, wantedPorts } from '../supervise/ports.js';
import { reload } from '../supervise/reload.js';
import { sayWhatIsClosed, servedNow, tellWhenInForce, waitForRules } from '../supervise/wait-for-rules.js';

/** The rules to start with; `path` null: those that served last. */
interface FirstArtifact {
  readonly path: string | null;
  readonly ruleSetDirectory: string | null;
  /** null: not known, because it could not be compiled. */
  readonly rules: RuleSetNotice | null;
}

/**
 * Where a control plane gave the settings, what served last serves on or protected sites are closed until it has sent
 * the active ones: the rules of the local file serve in neither case, and nobody waits for them to be compiled.
 */
async function managedStart(): Promise<FirstArtifact> {
  const { directory } = await installCrs({ say: console.log });
  return { path: null, ruleSetDirectory: directory, rules: noticeOf(directory) };
}

/**
 * The artifact to start with. Settings that cannot be used stop a first start; later the last active generation serves
 * on (the data plane resumes it), because protection that worked must not be lost over a reboot.
 */
async function firstArtifact(
  file: string,
  data: string,
  { isManaged, signal }: { readonly isManaged: boolean; readonly signal: AbortSignal },
): Promise<FirstArtifact> {
  try {
    readSettings(file, (note) => console.log(`note: ${note}`));
    if (isManaged) return await managedStart();
    const { path, crs, cached, tookMs } = await prepareArtifact(file, data, { say: console.log, signal });
    if (!cached) console.log(`rules compiled in ${(tookMs / 1000).toFixed(1)} s`);
    return { path, ruleSetDirectory: crs.directory, rules: noticeOf(crs.directory) };
  } catch (error) {
    if (!(error instanceof Refusal) || !existsSync(join(data, 'current.json'))) throw error;
    console.error(`gatehouse: ${error.message}\n  Starting with what served last instead.`);
    return { path: null, ruleSetDirectory: null, rules: null };
  }
}

interface UpFlags {
  readonly flags: Readonly<Record<string, string>>;
  readonly hasApi: boolean;
}

function readUpFlags(args: readonly string[]): UpFlags {
  const { flags, others } = readFlags(args);
  const unknown = others.filter((other) => other !== '--no-api');
  if (unknown.length > 0)
    throw wrongUsage(
      `up does not know ${unknown.join(' ')}. ` +
        'Flags are --no-api and the names in .env.example, such as --waf-port 9000.',
    );
  return { flags, hasApi: !others.includes('--no-api') };
}

function prepareEnvFile(): void {
  const done = createEnvFile();
  if (done === 'written') console.log(`wrote ${shown(envFilePath())} with fresh secrets`);
  if (done === 'completed') console.log(`added the secrets that ${shown(envFilePath())} lacked`);
}

/** The first signal to end. */
function waitForSignal(): { readonly stopped: Promise<NodeJS.Signals>; readonly ending: AbortSignal } {
  const controller = new AbortController();
  const stopped = new Promise<NodeJS.Signals>((settle) => {
    const end = (signal: NodeJS.Signals): void => {
      controller.abort();
      settle(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  });
  return { stopped, ending: controller.signal };
}

/** A first start takes a while: what it does, and how long each part of it took. */
function sayReadyAfter(name: string, sinceMs: number): void {
  console.log(`${name} ready after ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`);
}

/**
 * Each part is started when the one before serves. Resolves with the control plane, or null where a signal came first.
 */
async function startParts(
  { demo, dataPlane, controlPlane, console: dashboard }: Parts,
  { values, data }: Plan,
  stopped: Promise<NodeJS.Signals>,
): Promise<{ readonly control: Control | null } | null> {
  for (const part of [demo, dataPlane]) {
    if (part === null) continue;
    const partMs = performance.now();
    if (typeof (await Promise.race([part.start(), stopped])) === 'string') return null;
    sayReadyAfter(part.name, partMs);
    if (part === dataPlane) {
      keepAlive(part, urgentPauses, resuming);
      await sayWhatIsClosed({ look: () => servedNow(values), say: console.error });
    } else keepAlive(part, patientPauses);
  }
  if (controlPlane === null) return { control: null };
  // A control plane that worked once and cannot come up now (its database is away) must not take the protection with
  // it.
  const mayFollow = hadControl(data);
  if (mayFollow) keepAlive(controlPlane, patientPauses);
  const url = controlUrl(values);
  const started = controlPlane
    .start()
    .then((ready): Control => ({ url: ready.url ?? url, firstLogin: ready.firstLogin ?? null }))
    .catch((error: unknown): Control => {
      if (!mayFollow || !(error instanceof Refusal)) throw error;
      return { url, firstLogin: null, problem: error.message };
    });
  const controlMs = performance.now();
  const control = await Promise.race([started, stopped]);
  if (typeof control === 'string') return null;
  if (control.problem === undefined) sayReadyAfter(controlPlane.name, controlMs);
  if (!mayFollow) keepAlive(controlPlane, patientPauses);
  rememberControl(data);
  if (dashboard !== null) {
    if (typeof (await Promise.race([dashboard.start(), stopped])) === 'string') return null;
    keepAlive(dashboard, patientPauses);
  }
  return { control };
}

/** What is asked of a running installation: to reread its settings, where they are a file. */
function handleReload({ settingsFile: file, data, values }: Plan, control: Control | null): void {
  process.on('SIGHUP', () => {
    if (control === null) void reload(file, data, values);
    else
      console.error(
        `gatehouse: SIGHUP rereads ${shown(file)} only without the control plane (--no-api); ` +
          `with it, change settings there: ${control.url}/api/docs`,
      );
  });
}

/** Tells what serves when it does, or at the end of the wait what does not; then when it does after all. */
async function announce(plan: Plan, rules: RuleSetNotice | null, control: Control | null, ending: AbortSignal) {
  const { values, logDirectory, settingsFile: file } = plan;
  const look = (): ReturnType<typeof servedNow> => servedNow(values);
  // Nobody sends rules while the control plane cannot start: what is closed stays so, and is told at once.
  const isComing = control?.problem === undefined;
  const served = isComing ? await waitForRules({ look, say: console.error, signal: ending }) : await look();
  if (ending.aborted) return;
  const isLog = fstatSync(process.stdout.fd).isFile();
  const tries = await tryOut(`http://127.0.0.1:${values.WAF_PORT}`);
  console.log(announcement({ values, tries, rules, logDirectory, settingsFile: file, isLog, control, served }));
  if (typeof served?.closed === 'string') void tellWhenInForce({ look, say: console.log, signal: ending });
}

export async function runUp(args: readonly string[]): Promise<number> {
  const { flags, hasApi } = readUpFlags(args);
  prepareEnvFile();
  const values = readEnvironment(flags);
  adoptDirectories(values);
  const data = resolve(root, values.GATEHOUSE_DATA);
  closeDirectory(data);
  const file = settingsFile(data);
  const needsDemo = values.UPSTREAM_CUSTOMER === '' || values.UPSTREAM_PAYMENT === '';
  await checkPorts(wantedPorts(values, { demo: needsDemo, api: hasApi }));
  const { stopped, ending } = waitForSignal();
  const artifact = await firstArtifact(file, data, { isManaged: hasApi && hadControl(data), signal: ending }).catch(
    (error: unknown) => {
      if (!ending.aborted) throw error;
      return null;
    },
  );
  if (artifact === null || ending.aborted) return 0;
  const { path: artifactPath, ruleSetDirectory, rules } = artifact;
  const logDirectory = join(data, 'log');
  const plan: Plan = {
    values,
    data,
    settingsFile: file,
    logDirectory,
    artifactPath,
    ruleSetDirectory,
    needsDemo,
    hasApi,
  };
  const parts = createParts(plan);
  try {
    const started = await startParts(parts, plan, stopped);
    if (started === null) return 0;
    const { control } = started;
    handleReload(plan, control);
    await announce(plan, rules, control, ending);
    await stopped;
    console.log('\nstopping…');
    return 0;
  } finally {
    await stopParts(parts);
    process.removeAllListeners('SIGHUP');
  }
}
