// A Git server on the loopback interface: repositories of a directory through `git http-backend`, as web servers have
// it.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { devNull, tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

export const hasGit = (): boolean => {
  try {
    execFileSync('git', ['http-backend'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // it is asked for nothing, and says so
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' && (error as { status?: number }).status !== 1;
  }
};

const quiet = { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1', PATH: process.env['PATH'] };
const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.test', '-c', 'commit.gpgsign=false'];

function serve(root: string, request: IncomingMessage, reply: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...quiet,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  const parts: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => parts.push(chunk));
  child.once('close', () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf('\r\n\r\n');
    const lines = all.toString('latin1', 0, Math.max(0, end)).split('\r\n');
    const headers = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
    const status = headers.find(([name]) => name === 'Status')?.[1];
    const rest = headers.filter(([name]) => name !== 'Status').flat();
    reply.writeHead(Number(status?.slice(0, 3) ?? 200), rest);
    reply.end(all.subarray(end + 4));
  });
}

export interface GitServer {
  readonly host: string;
  readonly url: string;
  /** Authorization headers of what it was asked, oldest first; none: ''. */
  readonly asked: string[];
  /** A commit of the branch with these files in place of the old ones; the hash of it. */
  commit(name: string, branch: string, files: Readonly<Record<string, string>>): string;
  /** What it does in place of an answer from now on. */
  instead: ((request: IncomingMessage, reply: ServerResponse) => void) | null;
  close(): Promise<void>;
}

/** A key and a certificate for 127.0.0.1 that nobody knows. */
export function makeCertificate(): { readonly key: string; readonly cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-git-certificate-'));
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  const kind = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', ...kind, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** `tls`: it answers by https. */
export async function startGitServer(tls?: { readonly key: string; readonly cert: string }): Promise<GitServer> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-git-server-'));
  const asked: string[] = [];
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, env: quiet, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  const listener = (request: IncomingMessage, reply: ServerResponse): void => {
    asked.push(request.headers.authorization ?? '');
    if (made.instead === null) serve(directory, request, reply);
    else made.instead(request, reply);
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const made: GitServer = {
    ...{ host, url: `${tls === undefined ? 'http' : 'https'}://${host}`, asked, instead: null },
    commit(name, branch, files) {
      const work = mkdtempSync(join(directory, 'work-'));
      git(work, 'init', '-q', '-b', branch);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text);
      }
      git(work, 'add', '-A');
      git(work, ...author, 'commit', '-q', '-m', 'x');
      const bare = join(directory, `${name}.git`);
      git(directory, 'init', '-q', '--bare', bare);
      git(work, 'push', '-q', '--force', bare, `${branch}:${branch}`);
      return git(work, 'rev-parse', 'HEAD');
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return made;
}
