// Memory after many requests: two workers, PL1, the mix with fresh values. Resident memory is read on the way, so that
// growth shows.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.js';
import { measureLoad } from '../load.js';
import { temporaryDirectory } from '../processes.js';
import { startBackend, startGatehouse } from '../systems.js';
import { encodeTemplates } from '../traffic.js';

export async function memoryCase(context: BenchContext): Promise<void> {
  const { root, rules, options, recorder, traffics } = context;
  const wanted = options.short ? 50_000 : 1_000_000;
  const temporary = temporaryDirectory('memory');
  const backend = await startBackend(root);
  const system = await startGatehouse({
    root,
    backendPort: backend.port,
    paranoia: 1,
    workers: 2,
    rules,
    listener: options.listener,
  });
  try {
    const templates = join(temporary.path, 'mix.templates');
    writeFileSync(templates, encodeTemplates(traffics[0]?.[1] ?? []));
    let sent = 0;
    while (sent < wanted) {
      const { requests, residentMb } = await measureLoad({
        port: system.port,
        pid: system.pid,
        seconds: options.short ? 3 : 15,
        connections: 32,
        script: join(root, 'bench/fresh.lua'),
        templates,
      });
      sent += requests;
      context.progress(`memory: ${sent} requests, ${Math.round(residentMb)} MB`);
      recorder.add('memory / 2 workers, PL1 / resident', 'MB', 'lower', residentMb);
    }
    recorder.add('memory / 2 workers, PL1 / requests', 'requests', 'none', sent);
  } finally {
    await system.stop();
    await backend.stop();
    temporary.remove();
  }
}
