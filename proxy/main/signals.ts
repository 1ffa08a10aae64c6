// SIGTERM and SIGINT end the process in order; SIGHUP reads the local settings again.
import type { Logger } from 'pino';
import { exitNow } from '#engine';
import { messageOf } from '../contract/errors.js';
import type { DataPlane, DataPlaneOptions } from './options.js';
import { firstPayload } from './payloads.js';

const lingerMs = 1_000; // for a thread that does not end, after its last connection is closed

export function handleSignals(
  plane: DataPlane,
  end: (lingerMs: number) => Promise<boolean>,
  options: DataPlaneOptions,
  log: Logger,
): () => void {
  const onEnd = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping: no new connections, what comes on open ones is answered until they are quiet');
    end(lingerMs).then(
      // A process that exits while threads of it still hold uWebSockets.js sockets aborts with a core dump. Everything
      // is flushed by now: it ends without asking them.
      () => exitNow(0),
      (error: unknown) => {
        log.error({ err: String(error) }, 'stopping failed');
        exitNow(1);
      },
    );
  };
  process.once('SIGTERM', onEnd);
  process.once('SIGINT', onEnd);
  const onReread = (): void => {
    void rereadSettings(plane, options, log);
  };
  process.on('SIGHUP', onReread);
  return () => {
    process.off('SIGTERM', onEnd);
    process.off('SIGINT', onEnd);
    process.off('SIGHUP', onReread);
  };
}

async function rereadSettings(plane: DataPlane, options: DataPlaneOptions, log: Logger): Promise<void> {
  if (options.reread === null) {
    log.warn('SIGHUP: there is no local settings file to read again');
    return;
  }
  try {
    const next = await options.reread();
    if (next === null) return;
    const payload = firstPayload(next, 0);
    const reply = await plane.activate({
      id: 0,
      sha256: payload.sha256,
      artifactPath: '',
      ...(next.artifact === null ? {} : { artifactBase64: Buffer.from(next.artifact).toString('base64') }),
      config: next.config,
      selfTest: payload.selfTest,
    });
    if (reply.outcome === 'active')
      log.info({ generation: reply.id, tookMs: reply.tookMs }, 'SIGHUP: the new settings serve');
    else log.error({ reason: reply.reason }, 'SIGHUP: the new settings were refused; nothing changed');
  } catch (error) {
    log.error({ err: messageOf(error) }, 'SIGHUP: the settings could not be read; nothing changed');
  }
}
