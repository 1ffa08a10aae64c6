// What `up` prints when everything serves.
import { formatNotice, type RuleSetNotice } from '#compiler';
import type { Values } from '#settings/environment';
import { consoleUrl } from '../environment/control-url.js';
import { shown } from '../environment/directories.js';
import { envFilePath, readEnvFile } from '../environment/env-file.js';
import type { Served } from './admin-interface.js';
import type { FirstLogin } from './child.js';
import { describeSites, indentation } from './describe-sites.js';
import { inShort } from './keep-alive.js';

/** The control plane as it came up, or why it did not yet. */
export interface Control {
  readonly url: string;
  /** null: it had a login before. */
  readonly firstLogin: FirstLogin | null;
  readonly problem?: string;
}

/** Statuses of the answers, or why there was none. */
export interface Tries {
  readonly passed: string;
  readonly blocked: string;
}

export const attackPath = "/search?q=1'%20OR%20'1'='1'%20--%20";
export const ordinaryPath = '/search?q=lamp';
/** So that nobody takes them for a visitor's: first steps wait for an attack that a person sends. */
export const startCheckAgent = 'gatehouse-start-check';

/** What a newcomer would type next, done for them: one request that passes, one that is stopped. */
export async function tryOut(base: string): Promise<Tries> {
  const attempt = async (path: string): Promise<string> => {
    try {
      const reply = await fetch(base + path, {
        signal: AbortSignal.timeout(5000),
        redirect: 'manual',
        headers: { connection: 'close', 'user-agent': startCheckAgent },
      });
      await reply.arrayBuffer();
      return String(reply.status);
    } catch (error) {
      const { cause, name } = error as Error & { readonly cause?: { readonly code?: string } };
      return `no answer (${cause?.code ?? name})`;
    }
  };
  return { passed: await attempt(ordinaryPath), blocked: await attempt(attackPath) };
}

/** What became of the two requests, in words that are true of any settings and any application. */
function describeTries({ passed, blocked }: Tries, served: Served | null, base: string): string {
  const isOfApplication = (status: string): boolean => /^(?!403)[234]/.test(status);
  const isLoggedOnly = served?.mode === 'DetectionOnly' && isOfApplication(blocked);
  const passes = isOfApplication(passed) ? 'passes ' : 'answers';
  const stopped = blocked === '403' ? 'blocked' : isLoggedOnly ? 'logged ' : 'answers';
  return [
    `  ${passes} (${passed})     curl -i '${base}${ordinaryPath}'`,
    `  ${stopped} (${blocked})     curl -i "${base}${attackPath}"`,
    ...(isLoggedOnly ? ['  (mode DetectionOnly: attacks are logged, not blocked)'] : []),
  ].join('\n');
}

/** Where the first password can be read: what is set by the environment wins, and is in no file. */
function placeOfFirstPassword(): string {
  const name = 'ADMIN_INITIAL_PASSWORD';
  if (process.env[name]) return `came from the environment as ${name}`;
  return readEnvFile(envFilePath())[name]
    ? `was printed at the first start and stands in ${shown(envFilePath())} as ${name}`
    : 'was printed at the first start';
}

/**
 * The first password is shown once; it is in a person's terminal then, and in .env, and nowhere else.
 * `isLog`: what is printed stays in a file.
 */
function describeControl(values: Values, { url, firstLogin, problem }: Control, isLog: boolean): string {
  if (problem !== undefined)
    return (
      '  control plane     not up yet; it is started again until it is, ' +
      `and what was active last is in force meanwhile\n${indentation}${inShort(problem)}`
    );
  const login =
    firstLogin === null
      ? `${values.ADMIN_EMAIL}, with the password you chose ` +
        `(the first one ${placeOfFirstPassword()};\n` +
        `${indentation}forgotten: stop Gatehouse and run bin/gatehouse reset-password)`
      : isLog
        ? `${firstLogin.email}, with ADMIN_INITIAL_PASSWORD of ${shown(envFilePath())} (changed at the first login)`
        : `${firstLogin.email}   password ${firstLogin.password}   (shown this once; to be changed at the first login)`;
  return (
    `  console           ${consoleUrl(values)}\n  login             ${login}\n` +
    `  control plane     ${url}/api/   (explorer: ${url}/api/docs)`
  );
}

export interface Announcement {
  readonly values: Values;
  readonly tries: Tries;
  /** The core rule set; null: not known, what served last serves. */
  readonly rules: RuleSetNotice | null;
  readonly logDirectory: string;
  readonly settingsFile: string;
  /** What is printed stays in a file: no secret is in it. */
  readonly isLog: boolean;
  /** null: started without it. */
  readonly control: Control | null;
  readonly served: Served | null;
}

function describeRules({ rules, control }: Announcement): string {
  if (rules === null || control?.problem !== undefined) return 'the rules are those that served last';
  return rules.recommended === null ? `OWASP CRS ${rules.version}` : `rules: ${formatNotice(rules)}`;
}

/** The entry for TLS, where there is one. */
function overTls({ TLS_EDGE: edge, JA3_PORT: port }: Values): string {
  return edge === 'off' ? '' : `\n  the same over TLS https://localhost:${port}   (HTTP/2 and HTTP/1.1; JA3 and JA4)`;
}

/** Whether it protects, in the first line: nothing below it may say more than that. */
function headline(facts: Announcement): string {
  const { served, values, control } = facts;
  if (served === null)
    return '  Gatehouse has started, but its data plane does not say what it serves (its log says why).';
  if (served.closed === null) return `  Gatehouse is up (${describeRules(facts)}).`;
  const sender =
    control === null ? `the control plane at ${values.GATEHOUSE_CONTROL_URL}` : 'the control plane (its log says why)';
  return (
    '  Gatehouse has started, but it is NOT serving: requests to protected sites are answered 503.\n' +
    `  ${served.closed}.\n` +
    `  Nothing takes the place of your rules. It ends when ${sender} has sent the active settings,\n` +
    '  and this window tells it.'
  );
}

export function announcement(facts: Announcement): string {
  const { values, control, served } = facts;
  const base = `http://localhost:${values.WAF_PORT}`;
  const settings =
    control === null
      ? `  settings ${shown(facts.settingsFile)} (reread on SIGHUP: kill -HUP ${process.pid})`
      : describeControl(values, control, facts.isLog);
  return `
${headline(facts)}

${settings}

  WAF entry point   ${base}${overTls(values)}
  protects          ${describeSites(values, served)}

${describeTries(facts.tries, served, base)}

  logs              ${shown(facts.logDirectory)}/
  Ctrl-C stops everything.
`;
}
