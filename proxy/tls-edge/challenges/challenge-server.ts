// Handshakes of tls-alpn-01 (RFC 8737): they end with the certificate that proves a name, and no byte of a request is
// taken over them. Apart from the server for clients, whose protocols and certificates they must not touch.
import type { Socket } from 'node:net';
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import { challengeContexts, challengeProtocol, type ChallengeTable } from './challenge-table.js';

const handshakeMsMax = 10_000;
/** An authority closes when it has seen the certificate; nobody else has business here. */
const lingerMs = 5000;

export class ChallengeServer {
  private contexts: ReadonlyMap<string, SecureContext> = new Map();
  private server: Server | null = null;

  replace(table: ChallengeTable): void {
    this.contexts = challengeContexts(table);
  }

  /** Whether there is a proof for this name. */
  knows(serverName: string | null): boolean {
    return serverName !== null && this.contexts.has(serverName.toLowerCase());
  }

  take(socket: Socket): void {
    this.server ??= this.create();
    this.server.emit('connection', socket);
  }

  private create(): Server {
    const server = createServer({
      ALPNProtocols: [challengeProtocol],
      minVersion: 'TLSv1.2',
      handshakeTimeout: handshakeMsMax,
      SNICallback: (name, done) => {
        const context = this.contexts.get(name.toLowerCase());
        if (context === undefined) done(new Error('there is no challenge for this name'));
        else done(null, context);
      },
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => {}); // it is over either way
      socket.setTimeout(lingerMs, () => socket.destroy());
      socket.resume();
      socket.end();
    });
    server.on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy());
    return server;
  }
}
