// The systems that are measured side by side: Gatehouse, nginx as a plain proxy, nginx with ModSecurity and the same
// CRS. Each gets its own temporary directory and loopback port. The peers' configurations are written here only.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, freePort, HarnessProblem, start, temporaryDirectory, type Started } from './processes.js';

export interface System {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly startMs: number;
  readonly stop: () => Promise<void>;
  /** Gatehouse only: its admin interface. */
  readonly admin: { readonly port: number; readonly token: string } | null;
}

export interface Rules {
  readonly directory: string; // an unpacked CRS
  readonly unicodeMapping: string | null;
}

export async function startBackend(root: string): Promise<Started & { readonly port: number }> {
  const port = await freePort();
  const started = await start(process.execPath, [join(root, 'build/bench/backend.js'), String(port)], { port });
  return { ...started, port };
}

export interface GatehouseOptions {
  readonly root: string;
  readonly backendPort: number;
  readonly paranoia: number;
  readonly workers: number;
  readonly rules: Rules;
  readonly listener: 'auto' | 'net' | 'uws' | 'node';
  readonly customRules?: readonly unknown[];
  /** False: the site is only proxied. */
  readonly isProtected?: boolean;
  /** Over those of `gatehouseSettings`. */
  readonly settings?: object;
  /** Over everything else. */
  readonly env?: NodeJS.ProcessEnv;
  /** Flags for its Node.js, which its threads get, too. */
  readonly nodeFlags?: readonly string[];
}

export function gatehouseSettings(
  paranoia: number,
  backendPort: number,
  customRules: readonly unknown[] = [],
  isProtected = true,
): object {
  return {
    mode: 'On',
    paranoia_level: paranoia,
    inbound_threshold: 5,
    outbound_threshold: 4,
    custom_rules: customRules,
    sites: [{ name: 'bench', prefix: '/', upstream: `http://127.0.0.1:${backendPort}`, protected: isProtected }],
  };
}

/** Its data directory is kept below data/bench, so that a second run starts from cached artifacts. */
export function benchData(root: string, name: string): string {
  const directory = join(root, 'data/bench', name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

export async function startGatehouse(options: GatehouseOptions): Promise<System> {
  const { root, paranoia, workers, rules, isProtected = true } = options;
  const protection = isProtected ? `PL${paranoia}` : 'without protection';
  const name = `gatehouse ${protection}, ${workers} worker${workers === 1 ? '' : 's'}`;
  const data = options.env?.GATEHOUSE_DATA ?? benchData(root, isProtected ? `pl${paranoia}` : 'unprotected');
  const settings = join(data, 'settings.json');
  writeFileSync(
    settings,
    JSON.stringify({
      ...gatehouseSettings(paranoia, options.backendPort, options.customRules, isProtected),
      ...options.settings,
    }),
  );
  const port = await freePort();
  const adminPort = await freePort();
  const token = 'bench-admin-token-0123456789abcdef';
  const env = {
    ...process.env,
    WAF_BIND: '127.0.0.1',
    WAF_PORT: String(port),
    TLS_EDGE: 'off',
    GATEHOUSE_ADMIN_PORT: String(adminPort),
    GATEHOUSE_ADMIN_TOKEN: token,
    GATEHOUSE_DATA: data,
    DATA_WORKERS: String(workers),
    DATA_LISTENER: options.listener,
    CRS_DIR: rules.directory,
    ...options.env,
  };
  // The admin interface is the main thread's and the other port the workers': either may open later on a busy machine.
  const command = [...(options.nodeFlags ?? []), join(root, 'bin/gatehouse'), 'data-plane', '--settings', settings];
  const started = await start(process.execPath, command, {
    port: adminPort,
    alsoPorts: [port],
    env,
    cwd: root,
  });
  return {
    name,
    port,
    pid: started.pid,
    startMs: started.startMs,
    stop: started.stop,
    admin: { port: adminPort, token },
  };
}

/** Headers as large as the mix sends, bodies as large as Gatehouse accepts, keep-alive on both sides, no access log. */
function nginxConfig(directory: string, port: number, backendPort: number, waf: string): string {
  return `${waf === '' ? '' : 'load_module /usr/lib/nginx/modules/ngx_http_modsecurity_module.so;\n'}daemon off;
master_process on;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log crit;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000;
  client_max_body_size 14m;
  client_body_buffer_size 256k;
  large_client_header_buffers 8 32k;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f;
  uwsgi_temp_path ${directory}/u;
  scgi_temp_path ${directory}/s;
  upstream backend { server 127.0.0.1:${backendPort}; keepalive 128; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    ${waf}
    location / {
      proxy_pass http://backend;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }
}
`;
}

async function startNginx(name: string, backendPort: number, prepare: (directory: string) => string): Promise<System> {
  const command = findCommand('nginx');
  if (command === null)
    throw new HarnessProblem('nginx is not installed; on Debian: apt-get install nginx libnginx-mod-http-modsecurity');
  const temporary = temporaryDirectory('nginx');
  const port = await freePort();
  const file = join(temporary.path, 'nginx.conf');
  writeFileSync(file, nginxConfig(temporary.path, port, backendPort, prepare(temporary.path)));
  try {
    const started = await start(command, ['-p', temporary.path, '-c', file], { port });
    const stop = async (): Promise<void> => {
      await started.stop();
      temporary.remove();
    };
    return { name, port, pid: started.pid, startMs: started.startMs, stop, admin: null };
  } catch (error) {
    temporary.remove();
    throw error;
  }
}

export function startNginxPlain(backendPort: number): Promise<System> {
  return startNginx('nginx, plain proxy', backendPort, () => '');
}

export function hasModSecurity(): boolean {
  return findCommand('nginx') !== null && existsSync('/usr/lib/nginx/modules/ngx_http_modsecurity_module.so');
}

/**
 * Debian's ModSecurity (3.0.9) cannot parse targets with an attribute path in ctl; the copy that it gets leaves those
 * actions out. They only exempt XML attributes, which neither traffic contains.
 */
function rulesForModSecurity(directory: string, rules: Rules): string {
  const copy = join(directory, 'rules');
  mkdirSync(copy);
  for (const name of readdirSync(join(rules.directory, 'rules'))) {
    const text = readFileSync(join(rules.directory, 'rules', name), 'latin1');
    const fixed = name.endsWith('.conf')
      ? text.replace(/^[ \t]*ctl:[^\n]*;XML:\/\/@\*,\\\n/gm, '').replace(/ctl:[^\n]*;XML:\/\/@\*"/g, 't:none"')
      : text;
    writeFileSync(join(copy, name), fixed, 'latin1');
  }
  return copy;
}

/** Chooses the parser of bodies whose type matches, as ModSecurity's recommended configuration does. */
function processorRule(id: number, type: string, processor: string): string {
  const actions = `id:${id},phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=${processor}`;
  return `SecRule REQUEST_HEADERS:Content-Type "@rx ${type}" "${actions}"`;
}

/** What cannot be parsed is refused, as by ModSecurity's recommended configuration. */
function refusalRule(id: number, condition: string): string {
  return `SecRule ${condition} "id:${id},phase:2,t:none,log,deny,status:400"`;
}

/** The settings Gatehouse's policy renders, in ModSecurity's words: same limits, same levels, audit of what matched. */
function modSecurityRules(directory: string, paranoia: number, rules: Rules): string {
  const levels = `setvar:tx.blocking_paranoia_level=${paranoia},setvar:tx.detection_paranoia_level=${paranoia}`;
  const methods = 'GET HEAD POST OPTIONS PUT PATCH DELETE';
  const own = [
    'SecRuleEngine On',
    'SecRequestBodyAccess On',
    'SecRequestBodyLimit 13107200',
    'SecRequestBodyNoFilesLimit 1048576',
    'SecRequestBodyLimitAction Reject',
    'SecResponseBodyAccess On',
    'SecResponseBodyMimeType text/plain text/html text/xml application/json application/xml',
    'SecResponseBodyLimit 1048576',
    'SecResponseBodyLimitAction ProcessPartial',
    ...(rules.unicodeMapping === null ? [] : [`SecUnicodeMapFile ${rules.unicodeMapping} 20127`]),
    processorRule(200_000, '^(?:application(?:/soap\\+|/)|text/)xml', 'XML'),
    processorRule(200_001, '^application/json', 'JSON'),
    'SecAuditEngine RelevantOnly',
    'SecAuditLogType Serial',
    'SecAuditLogFormat JSON',
    `SecAuditLog ${directory}/audit.log`,
    `SecAction "id:900000,phase:1,pass,t:none,nolog,${levels}"`,
    `SecAction "id:900200,phase:1,pass,t:none,nolog,setvar:'tx.allowed_methods=${methods}'"`,
    ...(existsSync(join(rules.directory, 'crs-setup.conf.example'))
      ? [`Include ${rules.directory}/crs-setup.conf.example`]
      : []),
    `Include ${rulesForModSecurity(directory, rules)}/*.conf`,
    refusalRule(200_002, 'REQBODY_ERROR "!@eq 0"'),
    refusalRule(200_003, 'MULTIPART_STRICT_ERROR "!@eq 0"'),
  ];
  const file = join(directory, 'modsecurity.conf');
  writeFileSync(file, `${own.join('\n')}\n`);
  return file;
}

export function startModSecurity(backendPort: number, paranoia: number, rules: Rules): Promise<System> {
  return startNginx(
    `nginx + ModSecurity, PL${paranoia}`,
    backendPort,
    (directory) => `modsecurity on; modsecurity_rules_file ${modSecurityRules(directory, paranoia, rules)};`,
  );
}
