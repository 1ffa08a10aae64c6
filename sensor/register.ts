// `node --import gatehouse-sensor/register app.js`: puts the sensor in, before anything of the application is loaded.
// Without its variables it changes nothing. SIGUSR2 is left to the application; GATEHOUSE_SENSOR_ENABLED=0, the page of
// sensors and `globalThis[Symbol.for('gatehouse.sensor')].stop()` switch it off.
import { syncBuiltinESMExports } from 'node:module';
import { configOf, type SensorConfig } from './config.js';
import { watchLoading } from './load.js';
import { reportTo } from './report/report.js';
import { Sender } from './report/sender.js';
import { runAlone } from './requests/visit.js';
import { watchServers } from './requests/servers.js';
import { watchCode } from './sinks/code.js';
import { watchCommands } from './sinks/commands.js';
import { watchFiles } from './sinks/files.js';
import { watchOutgoing } from './sinks/outgoing.js';
import { guarded, onTrouble, sensorState } from './state.js';
import { sensorVersion } from './version.js';

const say = (text: string): void => void process.stderr.write(`gatehouse-sensor: ${text}\n`);

function begin(config: SensorConfig): void {
  const about = { agent_version: sensorVersion, runtime: `node ${process.versions.node}` };
  const sender = new Sender(config, about);
  onTrouble((error) => {
    if (config.isVerbose) say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  });
  reportTo((event) => sender.take(event));
  for (const watch of [watchServers, watchCommands, watchFiles, watchCode, watchOutgoing, watchLoading]) guarded(watch);
  syncBuiltinESMExports();
  sensorState.isOn = true;
  let told: string | null = null;
  const beat = async (): Promise<void> => {
    await sender.beat();
    if (sender.refusal !== null && sender.refusal !== told) say(`no answer of use: ${sender.refusal}`);
    told = sender.refusal;
  };
  runAlone(() => {
    setInterval(() => void beat(), config.heartbeatMs).unref();
    void beat();
    process.once('beforeExit', () => void sender.flush());
  });
  Object.defineProperty(globalThis, Symbol.for('gatehouse.sensor'), {
    value: Object.freeze({
      version: sensorVersion,
      stop: () => {
        sensorState.isBroken = true;
        sensorState.isOn = false;
      },
      flush: () => sender.flush(),
      state: () => ({
        isOn: sensorState.isOn,
        troubles: sensorState.troubles,
        sent: sender.sent,
        dropped: sender.dropped,
      }),
    }),
  });
}

guarded(() => {
  if (Symbol.for('gatehouse.sensor') in globalThis) return;
  const config = configOf(process.env);
  if ('why' in config) say(`looks at nothing: ${config.why}`);
  else begin(config);
});
