// The socket below postgres.js, so that a database that goes away ends queries and not the process.
//
// postgres.js 3.4.9 forgets its socket when it closes, at once. A transaction that is still running then rolls back
// into that connection, and `nextWrite` in src/connection.js throws where nobody can catch it (their issue 1208). Had
// the connection been opened again meanwhile, the rollback would end the transaction of somebody else there.
// The guard tells the library of the end in two steps. First it fails what waits and whatever is written later; when no
// transaction can use the connection any more and nothing of the library waits for its turn, it lets the close through.
import { connect as connectPlain, Socket } from 'node:net';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { sslRequest, standsStill, type Heartbeat, type ServerPlace, type ServerPulses } from './server-pulse.js';
import { ServerWords } from './server-words.js';

/** What of postgres.js's parsed options a socket is made from. */
export interface SocketTarget {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false | undefined;
}

/** Counts on when a server was of no use. */
export interface Turn {
  number: number;
}

/** `ssl` as postgres.js reads it from the URL: false, true, a mode of libpq, or options of node:tls. */
export type TlsMode = boolean | string | ConnectionOptions | undefined;

export interface GuardOptions {
  readonly tls: TlsMode;
  readonly connectMsMax: number;
  /** Of several servers: the one is looked for that follows none of the others. Absent or null: there is one. */
  readonly servers?: readonly ServerPlace[] | null;
  /**
   * Which of them it is, as far as is known: one for all pools of a database. A pool of one connection that is made for
   * one lock would begin with the first server every time, and never find another. Absent: one of its own.
   */
  readonly turn?: Turn;
  /** Who notices that a server stands still. */
  readonly pulses: ServerPulses;
  /** Resolves when every transaction that is open now has ended. */
  readonly untilTransactionsEnd: () => Promise<void>;
}

type Settings = GuardOptions & { readonly target: SocketTarget; readonly isOfNoUse: () => void };

/**
 * For the option `socket` of postgres.js, which is called for every connection, also for the next try. It is told of
 * one server: of several it would swallow each error and try again without a pause and an end (3.4.9: `error` in
 * src/connection.js looks at a count that nothing raises).
 */
export function createSockets(options: GuardOptions): (target: SocketTarget) => Promise<Socket> {
  const { turn = { number: 0 } } = options;
  return async (target) => {
    const mine = turn.number;
    // The next one goes where this one went, until one is refused there: the server died, or follows another now.
    const isOfNoUse = (): void => void (turn.number = turn.number === mine ? mine + 1 : turn.number);
    return open({ ...options, target, isOfNoUse }, mine);
  };
}

/** Never rejects: postgres.js would lose the connection's place in its pool. What is wrong comes as an error event. */
async function open(settings: Settings, turn: number): Promise<Socket> {
  const { target, servers = null, tls, connectMsMax } = settings;
  const place = servers?.[turn % servers.length] ?? placeOf(target);
  const pulse = settings.pulses.of(place);
  const guarded = (socket: Socket): Socket => guard(socket, settings, pulse.watch(socket));
  const failing = (error: Error): Socket => {
    const socket = new Socket();
    // What postgres.js has not written when the end comes it would put before the first words on its next connection.
    socket.write = (): boolean => true;
    const stillborn = guarded(socket);
    void nextTurn()
      .then(nextTurn)
      .then(() => stillborn.destroy(error));
    return stillborn;
  };
  if (pulse.isStill) return failing(standsStill());
  const raw = connectPlain(place);
  if (tls === undefined || tls === false || 'path' in place) {
    const refusal = await refusedAtOnce(raw);
    return refusal === null ? guarded(raw) : failing(refusal);
  }
  try {
    return guarded(await secure(raw, tls, place.host, connectMsMax));
  } catch (error) {
    raw.destroy();
    return failing(error as Error);
  }
}

/**
 * Where there is no way to a host (its network is down, no route) the system says so at once: before postgres.js, which
 * waits for the promise of this socket, could listen, and an error that nobody hears ends the process.
 */
async function refusedAtOnce(raw: Socket): Promise<Error | null> {
  let refusal: Error | null = null;
  const note = (error: Error): void => void (refusal = error);
  raw.on('error', note);
  await nextTurn();
  raw.removeListener('error', note);
  return refusal ?? (raw.destroyed ? closed() : null);
}

function placeOf({ path, host, port }: SocketTarget): ServerPlace {
  if (typeof path === 'string') return { path };
  return { host: host[0] ?? '', port: port[0] ?? 5432 };
}

/** Throws when the server refuses, or the certificate does not fit the mode. Source: libpq, SSL support. */
async function secure(raw: Socket, mode: TlsMode, host: string, msMax: number): Promise<Socket> {
  const answer = await firstOf<Buffer>(raw, 'data', msMax, () => raw.write(sslRequest));
  if (answer[0] !== 0x53) {
    if (mode === 'prefer') return raw;
    throw Object.assign(new Error('The PostgreSQL server takes no TLS connections.'), { code: 'CONNECTION_ENDED' });
  }
  const given = typeof mode === 'object' ? mode : {};
  const isUnchecked = mode === 'require' || mode === 'allow' || mode === 'prefer';
  // gatehouse:ignore tls-not-verified sslmode=require encrypts and checks nothing, as libpq has it
  const secured = connectSecurely({
    socket: raw,
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    // gatehouse:ignore tls-not-verified verify-ca and verify-full check
    ...(isUnchecked ? { rejectUnauthorized: false } : {}),
    ...given,
  });
  await firstOf(secured, 'secureConnect', msMax);
  return secured;
}

/** The first event of that name; rejects when the socket fails or ends first, or nothing comes in time. */
function firstOf<T>(socket: Socket, event: string, msMax: number, begin: () => void = () => undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(alarm);
      for (const [name, listener] of listeners) socket.removeListener(name, listener);
      act();
    };
    const fail = (error: Error): void => settle(() => reject(error));
    const listeners = [
      [event, (value: T) => settle(() => resolve(value))],
      ['error', fail],
      ['close', () => fail(closed())],
    ] as const;
    const alarm = setTimeout(() => fail(Object.assign(closed(), { code: 'CONNECT_TIMEOUT' })), msMax);
    for (const [name, listener] of listeners) socket.on(name, listener);
    begin();
  });
}

const closed = (): Error =>
  Object.assign(new Error('The connection to the database has ended.'), { code: 'CONNECTION_CLOSED' });

const followsAnother = (): Error =>
  Object.assign(new Error('This PostgreSQL server follows another one, which is looked for.'), {
    code: 'CONNECTION_ENDED',
  });

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Statements that postgres.js may have sent ahead on one connection (its `max_pipeline`), and the one at work. */
const statementsOnTheWayMax = 101;

/** Wraps the two ways in which postgres.js and the socket meet: what the socket tells, and what is written to it. */
function guard(socket: Socket, settings: Settings, heartbeat: Heartbeat): Socket {
  const { untilTransactionsEnd, isOfNoUse, servers = null } = settings;
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = (...given: unknown[]): boolean => {
    heartbeat.asked();
    return write(...given);
  };
  const tell = socket.emit.bind(socket) as (event: string, ...rest: unknown[]) => boolean;
  const server = new ServerWords();
  let isGone = false;
  const fail = (error: Error): void => {
    if (socket.listenerCount('error') > 0) tell('error', error);
  };
  /** In its place: every statement of the transaction fails, and it goes its usual way to its end. */
  const endTransaction = async (hadError: unknown): Promise<void> => {
    for (let answers = 0; answers < statementsOnTheWayMax; answers++) tell('data', server.refusal());
    await untilTransactionsEnd();
    // what the library has put off to a later turn finds the socket that it was meant for
    await nextTurn();
    await nextTurn();
    tell('close', hadError);
  };
  const end = (hadError: unknown): void => {
    if (server.hasOpenTransaction) return void endTransaction(hadError);
    // At once: a statement that is given to it meanwhile would not be sent, nor anything on its next connection. And
    // after an error for what was given to it since the last: it would be told that it has succeeded there.
    fail(server.lastWord ?? closed());
    tell('close', hadError);
  };
  const writeAfterEnd = (): boolean => {
    setImmediate(() => tell('data', server.refusal()));
    return true;
  };
  socket.emit = (event: string | symbol, ...rest: unknown[]): boolean => {
    if (event === 'data') {
      heartbeat.heard();
      const complete = server.read(rest[0] as Buffer);
      if (server.isStandby && servers !== null) return socket.destroy(followsAnother()).destroyed;
      const isTold = complete === null || tell('data', complete);
      // The next one asks the name again, and finds the server that takes writes.
      if (server.isReadOnly) socket.destroy();
      return isTold;
    }
    // a transaction hears of it as the answer to its statements
    if (event === 'error' && server.hasOpenTransaction) return true;
    if (event !== 'close') return tell(event as string, ...rest);
    if (isGone) return false;
    isGone = true;
    heartbeat.gone();
    if (!server.hasBeenReady || server.isStandby || server.isReadOnly) isOfNoUse();
    // node:net has put another in its place when the peer ended
    if (server.hasOpenTransaction) socket.write = writeAfterEnd;
    end(rest[0]);
    return true;
  };
  return socket;
}
