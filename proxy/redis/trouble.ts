// What is wrong with Redis, in one word for machines and one sentence for people: errors of sockets, of TLS, of the
// client and of servers say what happened, and seldom what to do.

export const troubles = [
  'unreachable',
  'silent',
  'certificate',
  'login',
  'permission',
  'read_only',
  'cluster',
  'other',
] as const;

/** `silent`: connected, and no answer in time. */
export type RedisTrouble = (typeof troubles)[number];

interface Row {
  readonly trouble: RedisTrouble;
  /** Of the error's text with its code. */
  readonly form: RegExp;
  /** What to do about it. */
  readonly fix: string;
}

/** The first that fits. */
const rows: readonly Row[] = [
  {
    trouble: 'login',
    form: /WRONGPASS|NOAUTH|invalid username-password|invalid password|without any password configured/i,
    fix:
      'it refuses the user or the password: look at REDIS_URL and REDIS_PASSWORD ' +
      '(of sentinels REDIS_SENTINEL_PASSWORD), and at ACL LIST of the server',
  },
  {
    trouble: 'permission',
    form: /NOPERM/,
    fix: 'its ACL user may not do that: docs/redis.md has the line for ACL SETUSER',
  },
  {
    trouble: 'certificate',
    form: /ERR_TLS_CERT_ALTNAME_INVALID|Hostname\/IP does not match/i,
    fix: 'its certificate has another name: connect by a name that it has, or name one in REDIS_TLS_SERVER_NAME',
  },
  {
    trouble: 'certificate',
    form: /CERT_HAS_EXPIRED|certificate has expired|CERT_NOT_YET_VALID/i,
    fix: 'its certificate is not valid at this time: renew it, and look at the clocks of both machines',
  },
  {
    trouble: 'certificate',
    form: /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|self-signed|unable to (?:verify|get)|CERT_SIGNATURE|CERT_UNTRUSTED/i,
    fix: 'its certificate is not believed: name the file of its authority in REDIS_TLS_CA_FILE',
  },
  {
    trouble: 'certificate',
    form: /certificate required|bad certificate|handshake failure|unknown ca|ERR_OSSL_X509|ERR_OSSL_PEM|KEY_VALUES/i,
    fix: 'it does not take our certificate: set REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE to a pair that it believes',
  },
  {
    trouble: 'certificate',
    form: /wrong version number|packet length too long|EPROTO|^TLS: the connection was closed/i,
    fix: 'it does not speak TLS on this port: write redis in place of rediss, or name its TLS port',
  },
  {
    trouble: 'cluster',
    form: /^MOVED|\bMOVED \d+ /,
    fix: 'it is part of a cluster: write redis+cluster://… in REDIS_URL',
  },
  {
    trouble: 'cluster',
    form: /cluster support disabled/i,
    fix: 'it is no cluster: write redis://… in REDIS_URL',
  },
  {
    trouble: 'cluster',
    form: /CLUSTERDOWN|TRYAGAIN|Too many Cluster redirections|cluster.*(?:fail|refresh)/i,
    fix: 'some slots of the cluster have no primary: look at redis-cli --cluster check',
  },
  {
    trouble: 'read_only',
    form: /READONLY|NOREPLICAS|MISCONF|MASTERDOWN/,
    fix:
      'it takes no writes: a replica (name the sentinels, redis+sentinel://…), a primary without its replicas, ' +
      'or one whose disk is full',
  },
  {
    trouble: 'unreachable',
    form: /invalid reply: null|no such master/i,
    fix: 'no sentinel that answers knows a primary of that name: look at the end of REDIS_URL and at SENTINEL MASTERS',
  },
  {
    trouble: 'silent',
    form: /timed out|timeout|ETIMEDOUT|no answer/i,
    fix:
      'it does not answer in time: it stands still, is overloaded, a firewall drops what is sent, ' +
      'or REDIS_URL begins with rediss and it does not speak TLS on this port',
  },
  {
    trouble: 'unreachable',
    form: /ECONN|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|ENOENT|EACCES|are unreachable|closed|isn't (?:ready|write)/i,
    fix: 'no server answers there: look at the address in REDIS_URL, and whether it runs',
  },
];

/** The error's own words with those of what caused it: of a cluster the last node's, of several addresses each. */
function wordsOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const { code, lastNodeError, errors } = error as Error & {
    code?: unknown;
    lastNodeError?: unknown;
    errors?: readonly unknown[];
  };
  const own = [error.message, typeof code === 'string' && !error.message.includes(code) ? code : ''];
  const causes = depth > 2 ? [] : [lastNodeError, error.cause, ...(errors ?? [])].filter((one) => one != null);
  return [...own, ...causes.map((one) => wordsOf(one, depth + 1))].filter((word) => word !== '').join(': ');
}

export interface Told {
  readonly trouble: RedisTrouble;
  /** What happened and what to do; shows no password. */
  readonly text: string;
}

export function tellTrouble(error: unknown): Told {
  const words = wordsOf(error);
  const row = rows.find(({ form }) => form.test(words));
  return row === undefined ? { trouble: 'other', text: words } : { trouble: row.trouble, text: `${words}; ${row.fix}` };
}
