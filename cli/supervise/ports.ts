// The ports that `up` needs, tried before anything is started.
import { createServer } from 'node:net';
import type { Values, VariableName } from '#settings/environment';
import { shown } from '../environment/directories.js';
import { envFilePath } from '../environment/env-file.js';
import { flagOf } from '../environment/flags.js';
import { Refusal } from '../refusal.js';

export interface WantedPort {
  readonly port: number;
  readonly host: string;
  readonly what: string;
  readonly variable: VariableName;
}

export function wantedPorts(values: Values, parts: { readonly demo: boolean; readonly api: boolean }): WantedPort[] {
  const local = '127.0.0.1';
  const wanted = (variable: VariableName, host: string, what: string): WantedPort => ({
    port: Number(values[variable]),
    host,
    what,
    variable,
  });
  return [
    wanted('WAF_PORT', values.WAF_BIND, 'protected traffic'),
    ...(values.TLS_EDGE === 'off' ? [] : [wanted('JA3_PORT', values.WAF_BIND, 'protected traffic over TLS')]),
    wanted('GATEHOUSE_ADMIN_PORT', local, 'data-plane admin'),
    ...(parts.api ? [wanted('API_PORT', values.ADMIN_BIND, 'control plane')] : []),
    ...(parts.api ? [wanted('UI_PORT', values.ADMIN_BIND, 'console')] : []),
    ...(parts.demo ? [wanted('DEMO_PORT', local, 'demo upstreams')] : []),
  ];
}

/** null: it can be opened; else the code of what the system says. */
function tryPort(port: number, host: string): Promise<string | null> {
  return new Promise((settle) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => settle(null)));
  });
}

function problemOf({ port, host, what, variable }: WantedPort, code: string): string {
  const at = `  port ${port} (${what})`;
  const flag = `${flagOf(variable)} N`;
  if (code === 'EADDRINUSE') {
    const fix = `stop what holds it, or choose another: ${variable} in ${shown(envFilePath())}, or ${flag}`;
    return `${at} is taken; ${fix}`;
  }
  if (code === 'EACCES') return `${at} may not be opened by this user; choose one above 1023: ${flag}`;
  return `${at} on ${host} cannot be opened (${code}); check the address and ${variable}`;
}

/** A port that something else holds is reported before anything is started, with the name of what wanted it. */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const problems: string[] = [];
  for (const one of wanted) {
    const code = await tryPort(one.port, one.host);
    if (code !== null) problems.push(problemOf(one, code));
  }
  if (problems.length > 0) throw new Refusal(`cannot start:\n${problems.join('\n')}`);
}
