// The files of a TLS connection to Redis. They are read at each connection, so that certificates that were renewed in
// their place are those of the next one.
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { RedisAddress, RedisTls } from '#settings/environment';

const variables = { caFile: 'REDIS_TLS_CA_FILE', certFile: 'REDIS_TLS_CERT_FILE', keyFile: 'REDIS_TLS_KEY_FILE' };
const names = ['caFile', 'certFile', 'keyFile'] as const;

/** Throws with the name of the variable. */
function read(tls: RedisTls, name: (typeof names)[number]): Buffer | undefined {
  const file = tls[name];
  if (file === null) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = String(error) } = error as { code?: string };
    throw new Error(`${variables[name]}=${file} cannot be read (${code})`, { cause: error });
  }
}

/** Lines for a person: the files that cannot be read or are no certificates and keys. */
export function findFileProblems({ tls }: RedisAddress): string[] {
  if (tls === null) return [];
  return names.flatMap((name) => {
    try {
      const text = read(tls, name)?.toString('latin1');
      const wanted = name === 'keyFile' ? 'PRIVATE KEY' : 'CERTIFICATE';
      return text === undefined || text.includes(`${wanted}-----`)
        ? []
        : [`${variables[name]}=${tls[name]} has no ${wanted} in PEM (-----BEGIN …); name the right file`];
    } catch (error) {
      return [`${(error as Error).message}; name a file that this user may read`];
    }
  });
}

/**
 * What the client spreads over the options of each connection: so the files are read then, and not before. One that
 * cannot be read is told to `onProblem` and left out: then the certificate of Redis is not believed, or ours is not
 * there.
 */
export function tlsOptions(tls: RedisTls, onProblem: (error: unknown) => void): ConnectionOptions {
  const readOrTell = (name: (typeof names)[number]): Buffer | undefined => {
    try {
      return read(tls, name);
    } catch (error) {
      onProblem(error);
      return undefined;
    }
  };
  return {
    get ca() {
      return readOrTell('caFile');
    },
    get cert() {
      return readOrTell('certFile');
    },
    get key() {
      return readOrTell('keyFile');
    },
    ...(tls.serverName === null ? {} : { servername: tls.serverName }),
  };
}
