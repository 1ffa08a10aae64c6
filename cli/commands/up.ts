// `gatehouse up`: starts everything that belongs together, in order, and stops it together.
//
// This process only supervises: the demo, the data plane and the control plane are child processes with their own
// process groups, so that Ctrl-C reaches this one alone and stopping is an orderly, bounded sequence. A child that dies
// is started again with growing pauses; one that never became healthy is a failed start, and everything is stopped.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { prepareArtifact, readSettings, settingsFile } from './artifact.mjs';
import { controlUrl } from './control-plane.mjs';
import {
  adoptDirectories,
  createEnvFile,
  envFile,
  readEnvironment,
  readFlags,
  Refusal,
  root,
  shown,
} from './environment.mjs';
import { LogFile } from './log-file.mjs';
import { resolveProxy, selfTestOf, upstreamsOf } from './proxy-config.mjs';

const healthMsMax = 180_000; // a child that ends is noticed at once; this is for one that hangs, not for a slow machine
const stopMsMax = 15_000;
const restartPauseMsMax = 30_000;

function say(text) {
  console.log(text);
}

/** A port that something else holds is reported before anything is started, with the name of what wanted it. */
async function checkPorts(wanted) {
  const problems = [];
  for (const { port, host, what, variable } of wanted) {
    const code = await new Promise((settle) => {
      const probe = createServer();
      probe.once('error', (error) => settle(error.code));
      probe.listen({ port, host, exclusive: true }, () => probe.close(() => settle(null)));
    });
    const flag = `--${variable.toLowerCase().replaceAll('_', '-')}`;
    if (code === 'EADDRINUSE')
      problems.push(
        `  port ${port} (${what}) is taken; stop what holds it, or choose another: ${variable} in ${shown(envFile)}, or ${flag} N`,
      );
    else if (code === 'EACCES')
      problems.push(`  port ${port} (${what}) may not be opened by this user; choose one above 1023: ${flag} N`);
    else if (code !== null)
      problems.push(
        `  port ${port} (${what}) on ${host} cannot be opened (${code}); check the address and ${variable}`,
      );
  }
  if (problems.length > 0) throw new Refusal(`cannot start:\n${problems.join('\n')}`);
}

/** One supervised child: its output goes to a log file, `ready` settles when it says so over the channel. */
class Child {
  constructor({ name, args, env, logFile, resumes = false }) {
    Object.assign(this, {
      name,
      args,
      env,
      logFile,
      resumes,
      process: null,
      logged: Promise.resolve(),
      stopping: false,
      onExit: () => {},
    });
  }

  start() {
    const log = new LogFile(this.logFile, (text) => console.error(`gatehouse: ${text}`));
    this.process = spawn(process.execPath, [join(root, 'bin/gatehouse'), ...this.args], {
      cwd: root,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (chunk) => log.write(chunk));
    // what it said last may still be on its way when it has ended
    this.logged = new Promise((settle) => {
      this.process.once('close', () => {
        log.close();
        settle();
      });
    });
    this.process.on('exit', (code, signal) => {
      this.process = null;
      this.onExit(code ?? signal);
    });
    return this;
  }

  /** Resolves with the child's message `{ kind: 'ready' }`; rejects when it ends or stays silent. */
  ready() {
    const child = this.process;
    return new Promise((settle, refuse) => {
      const timer = setTimeout(
        () => refuse(new Refusal(`${this.name} did not become ready in ${healthMsMax / 1000} s.\n${this.tail()}`)),
        healthMsMax,
      );
      child.on('message', (message) => {
        if (message?.kind !== 'ready') return;
        clearTimeout(timer);
        settle(message);
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        void this.logged.then(() =>
          refuse(new Refusal(`${this.name} ended with ${code ?? signal} while starting.\n${this.tail()}`)),
        );
      });
    });
  }

  tail() {
    const text = existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-12) : [];
    return `  Its last words (${shown(this.logFile)}):\n${text.map((line) => `    ${line.slice(0, 400)}`).join('\n')}`;
  }

  stop() {
    this.stopping = true;
    const child = this.process;
    if (child === null) return Promise.resolve();
    return new Promise((settle) => {
      const timer = setTimeout(() => {
        say(`${this.name} did not stop in ${stopMsMax / 1000} s; ending it`);
        child.kill('SIGKILL');
      }, stopMsMax);
      child.once('exit', () => {
        clearTimeout(timer);
        settle();
      });
      child.kill('SIGTERM');
    });
  }
}

/** What happened and the very last words: for a message that comes again and again. */
function inShort(message) {
  const lines = message.split('\n');
  return lines.length < 3 ? message : `${lines[0]} ${lines.at(-1).trim()}`;
}

/** Starts a child again when it dies, with pauses of 1, 2, 4 … 30 s; the pause shrinks again after a quiet minute. */
function keepAlive(child) {
  let pauseMs = 1000;
  let startedMs = Date.now();
  child.onExit = (reason) => {
    if (child.stopping) return;
    if (Date.now() - startedMs > 60_000) pauseMs = 1000;
    say(
      `${child.name} ended with ${reason}; starting it again in ${pauseMs / 1000} s (${shown(child.logFile)} says why)`,
    );
    setTimeout(() => {
      if (child.stopping) return;
      startedMs = Date.now();
      // What serves now may be newer than what this start began with: come back with the last active generation.
      if (child.resumes) child.args = child.args.map((arg) => (arg === '--local' ? '--resume' : arg));
      child.start();
      child.ready().then(
        () => say(`${child.name} is back`),
        (error) => console.error(`gatehouse: ${inShort(error.message)}`),
      );
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, restartPauseMsMax);
  };
}

/** What a newcomer would type next, done for them: one request that passes, one that is stopped. */
async function tryOut(base) {
  const attempt = async (path) => {
    try {
      const reply = await fetch(base + path, {
        signal: AbortSignal.timeout(5000),
        redirect: 'manual',
        headers: { connection: 'close' },
      });
      await reply.arrayBuffer();
      return String(reply.status);
    } catch (error) {
      return `no answer (${error.cause?.code ?? error.name})`;
    }
  };
  return { passed: await attempt('/search?q=lamp'), blocked: await attempt("/search?q=1'%20OR%20'1'='1'%20--%20") };
}

async function sendGeneration(values, artifact, settings) {
  const reply = await fetch(`http://127.0.0.1:${values.GATEHOUSE_ADMIN_PORT}/generation`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${values.GATEHOUSE_ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 0,
      sha256: artifact.sha256,
      artifactPath: artifact.path,
      config: await resolveProxy(settings, values, 'the settings file'),
      selfTest: await selfTestOf(settings),
    }),
    signal: AbortSignal.timeout(120_000),
  });
  return { status: reply.status, body: await reply.json() };
}

/**
 * SIGHUP: compile the settings file anew and hand the result to the running data plane; on any problem nothing changes.
 */
async function reload(file, data, values) {
  try {
    const artifact = await prepareArtifact(file, data, { say });
    const { status, body } = await sendGeneration(values, artifact, readSettings(file));
    if (body.outcome === 'active')
      say(`reloaded: generation ${body.id} is active on ${body.workers} workers (${body.tookMs} ms)`);
    else
      console.error(
        `gatehouse: the data plane refused the new settings (${status}): ${body.reason ?? JSON.stringify(body)}; the old ones stay in force`,
      );
  } catch (error) {
    if (
      !(error instanceof Refusal) &&
      error?.name !== 'CrsProblem' &&
      error?.name !== 'TimeoutError' &&
      !(error instanceof TypeError)
    )
      throw error;
    console.error(`gatehouse: ${error.message}\n  The old settings stay in force.`);
  }
}

/**
 * What the data plane serves, in its own words: the settings may say something else than the environment. null when it
 * does not say.
 */
async function sitesInForce(values) {
  try {
    const reply = await fetch(`http://127.0.0.1:${values.GATEHOUSE_ADMIN_PORT}/status`, {
      headers: { authorization: `Bearer ${values.GATEHOUSE_ADMIN_TOKEN}`, connection: 'close' },
      signal: AbortSignal.timeout(5000),
    });
    return reply.ok ? await reply.json() : null;
  } catch (error) {
    if (error?.name !== 'TimeoutError' && !(error instanceof TypeError)) throw error; // fetch: nothing answers
    return null;
  }
}

const sitesShownMax = 6;

/**
 * Whom this start protects, as the data plane tells it. What the environment says is printed where it is in force, or
 * as not in force.
 */
function describeSites(values, served) {
  if (served === null) return 'unknown: the data plane does not say (its log may)';
  if (served.ruleset === '') return 'nothing yet: every request is answered 503 (the log of the data plane says why)';
  const wanted = upstreamsOf(values);
  const isOfEnvironment = served.sitesFrom === 'environment';
  const demos = {
    UPSTREAM_CUSTOMER: `the bundled demo shop on port ${values.DEMO_PORT}`,
    UPSTREAM_PAYMENT: 'the bundled demo payment service',
  };
  const variableOf = ({ name }) => (isOfEnvironment ? `UPSTREAM_${name.toUpperCase()}` : '');
  const isDemo = (site) => values[variableOf(site)] === '' && site.upstream === wanted[variableOf(site)];
  if (isOfEnvironment && served.sites.every(isDemo))
    return `${demos.UPSTREAM_CUSTOMER} (set UPSTREAM_CUSTOMER to protect your own application)`;
  const rows = served.sites.slice(0, sitesShownMax).map((site) => {
    const to = isDemo(site)
      ? `${demos[variableOf(site)]} (${variableOf(site)} names another application)`
      : site.upstream;
    return `${site.host ?? ''}${site.prefix} → ${to}`;
  });
  if (served.sites.length > sitesShownMax) rows.push(`and ${served.sites.length - sitesShownMax} more`);
  const unused = Object.keys(demos).filter(
    (name) =>
      values[name] !== '' && !served.sites.some((site) => variableOf(site) === name && site.upstream === wanted[name]),
  );
  const why = isOfEnvironment
    ? 'another control plane gave this node its sites'
    : 'the settings have sites of their own, and these win';
  if (unused.length > 0)
    rows.push(
      `${unused.map((name) => `${name}=${values[name]}`).join(' and ')} ${unused.length === 1 ? 'is' : 'are'} NOT in force: ${why}`,
    );
  return rows.join(`\n${' '.repeat(20)}`);
}

/** What became of the two requests, in words that are true of any settings and any application. */
function describeTries({ passed, blocked }, served) {
  const isOfApplication = (status) => /^(?!403)[234]/.test(status);
  const isLoggedOnly = served?.mode === 'DetectionOnly' && isOfApplication(blocked);
  return {
    passes: isOfApplication(passed) ? 'passes ' : 'answers',
    blocked: blocked === '403' ? 'blocked' : isLoggedOnly ? 'logged ' : 'answers',
    note: isLoggedOnly ? '\n  (mode DetectionOnly: attacks are logged, not blocked)' : '',
  };
}

function announce({ values, tried, artifact, logDirectory, control, served }) {
  const base = `http://localhost:${values.WAF_PORT}`;
  const verdicts = describeTries(tried, served);
  say(`
  Gatehouse is up (OWASP CRS ${artifact.crs.version}).

  WAF entry point   ${base}
  protects          ${describeSites(values, served)}

  ${verdicts.passes} (${tried.passed})     curl -i '${base}/search?q=lamp'
  ${verdicts.blocked} (${tried.blocked})     curl -i "${base}/search?q=1'%20OR%20'1'='1'%20--%20"${verdicts.note}

${control === null ? `  settings ${shown(settingsFile(resolve(root, values.GATEHOUSE_DATA)))} (reread on SIGHUP: kill -HUP ${process.pid})` : describeControl(values, control)}
  logs              ${shown(logDirectory)}/
  Ctrl-C stops everything.
`);
}

/** The first password is shown once; it is in a person's terminal then, and in .env, and nowhere else. */
function describeControl(values, control) {
  const { firstLogin, problem } = control;
  if (problem !== undefined)
    return `  control plane     not up yet; it is started again until it is, and what was active last is in force meanwhile\n                    ${inShort(problem)}`;
  const login =
    firstLogin === null
      ? `${values.ADMIN_EMAIL}, with the password you chose (the first one was printed at the first start and stands in ${shown(envFile)} as\n                    ADMIN_INITIAL_PASSWORD; forgotten: stop Gatehouse and run bin/gatehouse reset-password)`
      : `${firstLogin.email}   password ${firstLogin.password}   (shown this once; to be changed at the first login)`;
  return `  control plane     ${control.url}/api/   (explorer: ${control.url}/api/docs)\n  login             ${login}`;
}

const controlMarker = (data) => join(data, 'control-plane.json');

/**
 * Says that the active generation is the control plane's, so that the next start resumes it instead of the local
 * settings.
 */
function rememberControl(data) {
  if (!existsSync(controlMarker(data)))
    writeFileSync(controlMarker(data), `${JSON.stringify({ since: new Date().toISOString() })}\n`, { mode: 0o600 });
}

/**
 * The artifact to start with. Settings that cannot be used stop a first start; later the last active generation serves
 * on (the data plane resumes it), because protection that worked must not be lost over a reboot.
 */
async function firstArtifact(file, data, values, signal) {
  try {
    await resolveProxy(readSettings(file), values, shown(file));
    const artifact = await prepareArtifact(file, data, { say, signal });
    if (!artifact.cached) say(`rules compiled in ${(artifact.tookMs / 1000).toFixed(1)} s`);
    return artifact;
  } catch (error) {
    if (!(error instanceof Refusal) || !existsSync(join(data, 'current.json'))) throw error;
    console.error(`gatehouse: ${error.message}\n  Starting with what served last instead.`);
    return { path: null, crs: { version: 'as it was' } };
  }
}

function portsOf(values, needsDemo, hasApi) {
  return [
    { port: Number(values.WAF_PORT), host: values.WAF_BIND, what: 'protected traffic', variable: 'WAF_PORT' },
    {
      port: Number(values.GATEHOUSE_ADMIN_PORT),
      host: '127.0.0.1',
      what: 'data-plane admin',
      variable: 'GATEHOUSE_ADMIN_PORT',
    },
    ...(hasApi
      ? [{ port: Number(values.API_PORT), host: values.ADMIN_BIND, what: 'control plane', variable: 'API_PORT' }]
      : []),
    ...(needsDemo
      ? [{ port: Number(values.DEMO_PORT), host: '127.0.0.1', what: 'demo upstreams', variable: 'DEMO_PORT' }]
      : []),
  ];
}

/** In the order of starting; the control plane comes last, because it looks at the data plane when it starts. */
function childrenOf({ values, data, file, artifact, needsDemo, hasApi, logDirectory }) {
  const env = {
    ...process.env,
    ...values,
    GATEHOUSE_DATA: data,
    GATEHOUSE_CONTROL_URL: hasApi ? values.GATEHOUSE_CONTROL_URL || controlUrl(values) : values.GATEHOUSE_CONTROL_URL,
  };
  // A restart must not fall back to the local settings while the control plane has newer ones.
  const resumes = hasApi
    ? existsSync(controlMarker(data)) && existsSync(join(data, 'current.json'))
    : values.GATEHOUSE_CONTROL_URL !== '';
  const ruleSet = artifact.crs.directory === undefined ? {} : { CRS_DIR: artifact.crs.directory };
  return [
    ...(needsDemo ? [new Child({ name: 'demo', args: ['demo'], env, logFile: join(logDirectory, 'demo.log') })] : []),
    new Child({
      name: 'data plane',
      args: [
        'data-plane',
        ...(artifact.path === null ? [] : ['--artifact', artifact.path]),
        '--settings',
        file,
        '--sites-of-environment',
        resumes ? '--resume' : '--local',
      ],
      env,
      resumes: true,
      logFile: join(logDirectory, 'data-plane.log'),
    }),
    ...(hasApi
      ? [
          new Child({
            name: 'control plane',
            args: ['control-plane'],
            env: { ...env, SETTINGS_IMPORT: values.SETTINGS_IMPORT || file, ...ruleSet },
            logFile: join(logDirectory, 'control-plane.log'),
          }),
        ]
      : []),
  ];
}

export async function up(args) {
  const { flags, others } = readFlags(args);
  const hasApi = !others.includes('--no-api');
  const unknown = others.filter((other) => other !== '--no-api');
  if (unknown.length > 0)
    throw new Refusal(
      `up does not know ${unknown.join(' ')}. Flags are --no-api and the names in .env.example, such as --waf-port 9000.`,
    );
  const written = createEnvFile();
  if (written !== 'complete')
    say(
      written === 'written'
        ? `wrote ${shown(envFile)} with fresh secrets`
        : `added the secrets that ${shown(envFile)} lacked`,
    );
  const values = readEnvironment(flags);
  adoptDirectories(values);
  const data = resolve(root, values.GATEHOUSE_DATA);
  const file = settingsFile(data);
  const needsDemo = values.UPSTREAM_CUSTOMER === '' || values.UPSTREAM_PAYMENT === '';
  await checkPorts(portsOf(values, needsDemo, hasApi));
  const ending = new AbortController();
  const stopped = new Promise((settle) => {
    const end = (signal) => {
      ending.abort();
      settle(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end);
  });
  const artifact = await firstArtifact(file, data, values, ending.signal).catch((error) => {
    if (!ending.signal.aborted) throw error;
    return null;
  });
  if (artifact === null || ending.signal.aborted) return 0;
  const logDirectory = join(data, 'log');
  const children = childrenOf({ values, data, file, artifact, needsDemo, hasApi, logDirectory });
  // The data plane first: what it still has to tell reaches the control plane. The demo last: requests may still wait
  // for it.
  const stopAll = async () => {
    for (const name of ['data plane', 'control plane', 'demo'])
      await children.find((child) => child.name === name)?.stop();
  };
  let control = null;
  try {
    for (const child of children) {
      child.start();
      // A control plane that worked once and cannot come up now (its database is away) must not take the protection
      // with it.
      const mayFollow = child.name === 'control plane' && existsSync(controlMarker(data));
      if (mayFollow) keepAlive(child);
      const ready = mayFollow
        ? child.ready().catch((error) => ({ url: controlUrl(values), firstLogin: null, problem: error.message }))
        : child.ready();
      const early = await Promise.race([ready, stopped]);
      if (typeof early === 'string') return 0;
      if (child.name === 'control plane') control = early;
      if (!mayFollow) keepAlive(child);
    }
    if (control !== null) rememberControl(data);
    process.on('SIGHUP', () => {
      if (control === null) void reload(file, data, values);
      else
        console.error(
          `gatehouse: SIGHUP rereads ${shown(file)} only without the control plane (--no-api); with it, change settings there: ${control.url}/api/docs`,
        );
    });
    announce({
      values,
      tried: await tryOut(`http://127.0.0.1:${values.WAF_PORT}`),
      artifact,
      logDirectory,
      control,
      served: await sitesInForce(values),
    });
    await stopped;
    say('\nstopping…');
    return 0;
  } finally {
    await stopAll();
    process.removeAllListeners('SIGHUP');
  }
}
