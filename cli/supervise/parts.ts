// The parts of an installation on one machine: demo, data plane, control plane, and what each is started with.
import { existsSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { effectiveValueOf, environmentFor, type ProcessName, type Values } from '#settings/environment';
import { controlUrl } from '../environment/control-url.js';
import { Child } from './child.js';
import { holdSockets } from './held-sockets.js';

export interface Plan {
  readonly values: Values;
  /** Absolute path of GATEHOUSE_DATA. */
  readonly data: string;
  readonly settingsFile: string;
  readonly logDirectory: string;
  /** null: the data plane resumes what served last. */
  readonly artifactPath: string | null;
  /** null: each part finds one itself. */
  readonly ruleSetDirectory: string | null;
  readonly needsDemo: boolean;
  readonly hasApi: boolean;
}

export interface Parts {
  readonly demo: Child | null;
  readonly dataPlane: Child;
  readonly controlPlane: Child | null;
  readonly console: Child | null;
}

const controlMarker = (data: string): string => join(data, 'control-plane.json');

/**
 * Whether a control plane served here before: then the active generation is its own, and not that of the local
 * settings.
 */
export const hadControl = (data: string): boolean => existsSync(controlMarker(data));

/**
 * Says that the active generation is the control plane's, so that the next start resumes it instead of the local
 * settings.
 */
export function rememberControl(data: string): void {
  if (!hadControl(data))
    writeFileSync(controlMarker(data), `${JSON.stringify({ since: new Date().toISOString() })}\n`, { mode: 0o600 });
}

function dataPlaneArgs({ values, data, settingsFile, artifactPath, hasApi }: Plan): string[] {
  // A restart must not fall back to the local settings while the control plane has newer ones.
  const wasManaged = hasApi && hadControl(data);
  const resumes = hasApi ? wasManaged : values.GATEHOUSE_CONTROL_URL !== '';
  return [
    'data-plane',
    ...(artifactPath === null ? [] : ['--artifact', artifactPath]),
    '--settings',
    settingsFile,
    '--sites-of-environment',
    resumes ? '--resume' : '--local',
    ...(wasManaged ? ['--managed'] : []),
  ];
}

/** What all parts are told, before each gets what is its own (environmentFor). */
export function environmentOfParts(plan: Pick<Plan, 'values' | 'data' | 'hasApi'>): NodeJS.ProcessEnv & Values {
  const { values, data } = plan;
  const ownUrl = plan.hasApi ? controlUrl(values) : '';
  return {
    ...process.env,
    ...values,
    GATEHOUSE_DATA: data,
    GATEHOUSE_CONTROL_URL: values.GATEHOUSE_CONTROL_URL || ownUrl,
    // made of variables that only the console is given
    DASHBOARD_UPSTREAM: effectiveValueOf('DASHBOARD_UPSTREAM', values),
  };
}

export function createParts(plan: Plan): Parts {
  const { values, logDirectory, ruleSetDirectory } = plan;
  const all = environmentOfParts(plan);
  // All that these two need is given to them: they have no reason to read the file with everybody's secrets.
  const env = { ...all, GATEHOUSE_ENV_FILE: devNull };
  const controlEnv = {
    ...all,
    SETTINGS_IMPORT: values.SETTINGS_IMPORT || plan.settingsFile,
    // Where the control plane's data lies elsewhere it would not find the rule set that this start has fetched.
    ...(ruleSetDirectory === null || values.DATA_DIR === '' ? {} : { CRS_DIR: ruleSetDirectory }),
  };
  const part = (name: ProcessName, log: string, args: readonly string[], given: NodeJS.ProcessEnv): Child =>
    new Child({ name, args, env: environmentFor(name, given), logFile: join(logDirectory, log) });
  return {
    demo: plan.needsDemo ? part('demo', 'demo.log', ['demo'], env) : null,
    dataPlane: new Child({
      name: 'data plane',
      args: dataPlaneArgs(plan),
      env: environmentFor('data plane', env),
      logFile: join(logDirectory, 'data-plane.log'),
      holdSockets: () => holdSockets(values),
    }),
    controlPlane: plan.hasApi ? part('control plane', 'control-plane.log', ['control-plane'], controlEnv) : null,
    console: plan.hasApi ? part('console', 'console.log', ['console'], env) : null,
  };
}

/**
 * The data plane first: what it still has to tell reaches the control plane. The demo last: requests may still wait for
 * it.
 */
export async function stopParts({ demo, dataPlane, controlPlane, console: dashboard }: Parts): Promise<void> {
  for (const part of [dashboard, dataPlane, controlPlane, demo]) await part?.stop();
}
