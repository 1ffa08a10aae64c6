// `gatehouse data-plane`: the data plane alone, in the foreground. `up` starts it as a child; a container or a service
// manager starts it directly. Settings come from the local settings file until a control plane sends generations; a
// later start resumes what was sent.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepareArtifact, readSettings, settingsFile } from './artifact.mjs';
import { adoptDirectories, readEnvironment, readFlags, Refusal, root } from './environment.mjs';
import { environmentUpstreams, resolveProxy, selfTestOf } from './proxy-config.mjs';

function readOwnFlags(args) {
  const own = { artifact: null, settings: null, resume: null, sitesOfEnvironment: false };
  for (let index = 0; index < args.length; index++) {
    if (args[index] === '--resume' || args[index] === '--local') own.resume = args[index] === '--resume';
    else if (args[index] === '--sites-of-environment') own.sitesOfEnvironment = true;
    else if (args[index] === '--artifact' || args[index] === '--settings')
      own[args[index].slice(2)] = args[++index] ?? null;
    else throw new Refusal(`data-plane does not know ${args[index]}.`);
  }
  return own;
}

export async function runDataPlane(args) {
  const { flags, others } = readFlags(args);
  const own = readOwnFlags(others);
  const values = readEnvironment(flags);
  adoptDirectories(values);
  const data = resolve(root, values.GATEHOUSE_DATA);
  const module = join(root, 'build/proxy/main/data-plane.js');
  if (!existsSync(module)) throw new Refusal('the data plane is not built; run `make setup` first.');
  const { startDataPlane } = await import(module);
  const file = own.settings ?? settingsFile(data);
  const say = (text) => console.error(`gatehouse: ${text}`);

  const load = async (artifactPath) => {
    const settings = readSettings(file);
    const config = await resolveProxy(settings, values, file);
    return {
      config,
      artifact: readFileSync(artifactPath ?? (await prepareArtifact(file, data, { say })).path),
      selfTest: await selfTestOf(settings),
    };
  };
  let initial = null;
  // A node whose control plane is elsewhere begins where it ended: its local settings know neither sites nor deny list.
  let resume = own.resume ?? values.GATEHOUSE_CONTROL_URL !== '';
  try {
    initial = await load(own.artifact);
  } catch (error) {
    // Protection that worked before the settings broke must not be lost over a restart.
    if (!(error instanceof Refusal) || !existsSync(join(data, 'current.json'))) throw error;
    say(`${error.message}\n  Starting with what served last (current.json) instead.`);
    resume = true;
    initial = { config: await resolveProxy({}, values, 'the defaults'), artifact: null };
  }
  const options = {
    host: values.WAF_BIND,
    port: Number(values.WAF_PORT),
    adminHost: '127.0.0.1',
    adminPort: Number(values.GATEHOUSE_ADMIN_PORT),
    adminToken: values.GATEHOUSE_ADMIN_TOKEN || null,
    workers: values.DATA_WORKERS === '' ? 'auto' : Number(values.DATA_WORKERS),
    listener: values.DATA_LISTENER,
    dataDir: data,
    initial,
    resume,
    upstreams: own.sitesOfEnvironment ? await environmentUpstreams(values) : null,
    reread: () => load(null),
    handlesSignals: true,
    shipping:
      values.GATEHOUSE_CONTROL_URL !== '' && values.GATEHOUSE_ADMIN_TOKEN !== ''
        ? { url: values.GATEHOUSE_CONTROL_URL, token: values.GATEHOUSE_ADMIN_TOKEN }
        : null,
  };
  const plane = await startDataPlane(options).catch((error) => {
    // Its messages are written for people (a taken port, a refused artifact); bugs keep their stack.
    if (error instanceof TypeError || error instanceof ReferenceError) throw error;
    throw new Refusal(error.message);
  });
  process.once('disconnect', () => void plane.stop().finally(() => process.exit(0))); // whoever started us is gone
  process.send?.({ kind: 'ready', ...plane.ports, workers: plane.workers, listener: plane.listener });
  await new Promise(() => {}); // signals end the process
}
