// SIGHUP without a control plane: the settings file is compiled anew and given to the running data plane.
import { chooseSelfTest } from '#proxy/contract';
import type { Values } from '#settings/environment';
import { prepareArtifact } from '../local-settings/artifact.js';
import { resolveProxy } from '../local-settings/proxy-config.js';
import { readSettings } from '../local-settings/settings-file.js';
import { diskRefusal, Refusal } from '../refusal.js';
import { sendGeneration, type GenerationAnswer } from './admin-interface.js';

async function activate(file: string, data: string, values: Values): Promise<GenerationAnswer> {
  const artifact = await prepareArtifact(file, data, { say: console.log });
  const settings = readSettings(file, (note) => console.log(`note: ${note}`));
  return sendGeneration(values, {
    id: 0,
    sha256: artifact.sha256,
    artifactPath: artifact.path,
    config: resolveProxy(settings, values),
    selfTest: chooseSelfTest(settings),
  });
}

/** The settings file, compiled anew, to the running data plane. Throws Refusal where that does not take it. */
export async function activateSettings(file: string, data: string, values: Values): Promise<void> {
  const { status, body } = await activate(file, data, values);
  if (body.outcome !== 'active')
    throw new Refusal(
      `the data plane refused (${status}): ${body.reason ?? JSON.stringify(body)}; nothing was changed.`,
    );
}

/** On any problem nothing changes, and the problem is told. */
export async function reload(file: string, data: string, values: Values): Promise<void> {
  try {
    const { status, body } = await activate(file, data, values);
    if (body.outcome === 'active')
      console.log(`reloaded: generation ${body.id} is active on ${body.workers} workers (${body.tookMs} ms)`);
    else {
      const why = body.reason ?? JSON.stringify(body);
      console.error(
        `gatehouse: the data plane refused the new settings (${status}): ${why}; the old ones stay in force`,
      );
    }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : diskRefusal(error);
    if (refusal === null) throw error;
    console.error(`gatehouse: ${refusal.message}\n  The old settings stay in force.`);
  }
}
