// A mail server on loopback for tests: keeps the mails that it took, and refuses when a test wants it.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Test } from 'tap';

export interface FakeMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

export class FakeSmtp {
  port = 0;
  readonly mails: FakeMail[] = [];
  readonly logins: string[] = [];
  /** Answers to a command in place of the usual one, by its first word. */
  readonly answers = new Map<string, string>();
}

function converse(fake: FakeSmtp, socket: Socket): void {
  let [from, to, data, buffer] = ['', [] as string[], null as string | null, ''];
  const say = (line: string): void => void socket.write(`${line}\r\n`);
  const onCommand = (line: string): void => {
    const [word = ''] = line.toUpperCase().split(/[ :]/);
    const instead = fake.answers.get(word);
    if (instead !== undefined) return say(instead);
    if (word === 'STARTTLS') return say('502 not here');
    if (word === 'EHLO') return say('250-fake\r\n250-AUTH PLAIN\r\n250 8BITMIME');
    if (word === 'AUTH') {
      fake.logins.push(Buffer.from(line.split(' ')[2] ?? '', 'base64').toString());
      return say('235 in');
    }
    if (word === 'MAIL') {
      from = /<([^>]*)>/.exec(line)?.[1] ?? '';
      to = [];
      return say('250 ok');
    }
    if (word === 'RCPT') {
      to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
      return say('250 ok');
    }
    if (word === 'DATA') {
      data = '';
      return say('354 go on');
    }
    if (word === 'QUIT') {
      say('221 bye');
      socket.end();
      return;
    }
    say('250 ok');
  };
  say('220 fake');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    buffer += chunk.toString();
    for (let end = buffer.indexOf('\r\n'); end >= 0; end = buffer.indexOf('\r\n')) {
      const line = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      if (data === null) onCommand(line);
      else if (line === '.') {
        fake.mails.push({ from, to, text: data });
        data = null;
        say('250 taken');
      } else data += `${line.replace(/^\.\./, '.')}\r\n`;
    }
  });
}

export async function startFakeSmtp(t: Test): Promise<FakeSmtp> {
  const fake = new FakeSmtp();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    converse(fake, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  fake.port = (server.address() as AddressInfo).port;
  return fake;
}
