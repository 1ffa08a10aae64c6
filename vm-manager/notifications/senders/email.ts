// E-mail by SMTP. The socket is opened by the guarded way out; nodemailer speaks on it, with TLS unless the operator
// allow-listed the host.
import { ApiError } from '#http-kit';
import { Type } from '@sinclair/typebox';
import nodemailer from 'nodemailer';
import { unfit } from '../../kit/endpoint.js';
import { plainLine } from '../message.js';
import { SendError, type Sender, type Sending } from './sender.js';

const timeoutMs = 10_000;
/** One mailbox, as RFC 5321 writes it without quoting; nothing that would begin another header or command. */
export const Mailbox = Type.String({ maxLength: 254, pattern: '^[^\\s<>",;:()\\\\@]+@[A-Za-z0-9.-]+$' });

const securities = ['starttls', 'tls', 'none'] as const;

interface Config {
  readonly host: string;
  readonly port: number;
  readonly security: (typeof securities)[number];
  readonly user?: string;
  readonly from: string;
  readonly to: readonly string[];
}
const configOf = (config: Readonly<Record<string, unknown>>): Config => config as unknown as Config;

function transportOf({ way, config, secret }: Sending) {
  const { host, port, security, user } = configOf(config);
  const { connect } = way;
  if (connect === undefined) throw new SendError('setup', 'This server opens no connections to mail servers.');
  return nodemailer.createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: secret ?? '' } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_, done) => {
      const transport = security === 'tls' ? 'tls' : 'tcp';
      connect({ transport, host, port, timeoutMs }).then(
        (connection) => done(null, { connection, secured: security === 'tls' }),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
}

/** Codes of nodemailer and replies of SMTP (RFC 5321, 4.2.1): 4yz may work later, 5yz does not. */
function troubleOf(error: unknown, host: string): SendError {
  if (error instanceof SendError) return error;
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  const said = `${host}${responseCode === undefined ? '' : ` answers ${command ?? ''} with ${responseCode}`}`;
  if (error instanceof ApiError)
    return new SendError(error.code === 'outbound_refused' ? 'setup' : 'later', `${host}: ${error.message}`);
  if (code === 'EAUTH') return new SendError('setup', `${said}: it does not accept the user and password.`);
  if (code === 'ETLS') return new SendError('setup', `${said}: it offers no TLS, or its certificate is not trusted.`);
  if (responseCode !== undefined && responseCode >= 500)
    return new SendError('refused', `${said}: it does not take this message.`);
  return new SendError('later', `${said}: ${code ?? 'it did not answer'}. It is sent again.`);
}

export const email: Sender = {
  title: 'E-mail',
  secret: 'password of the user at the mail server; none where it asks for none',
  needsSecret: false,
  config: Type.Object(
    {
      host: Type.String({ title: 'Mail server', maxLength: 253, pattern: '^[A-Za-z0-9.:-]+$' }),
      port: Type.Integer({ title: 'Port', minimum: 1, maximum: 65_535, description: '587 for starttls, 465 for tls' }),
      security: Type.String({
        title: 'Encryption',
        pattern: `^(?:${securities.join('|')})$`,
        description: 'starttls, tls or none; none to hosts of OUTBOUND_ALLOW only',
      }),
      user: Type.Optional(Type.String({ title: 'User', minLength: 1, maxLength: 200, pattern: '^[\\x20-\\x7e]+$' })),
      from: { ...Mailbox, title: 'From' },
      to: Type.Array(Mailbox, { title: 'To', minItems: 1, maxItems: 50, uniqueItems: true }),
      report_recipients: Type.Optional(
        Type.Array(Type.String({ maxLength: 254, pattern: '^[^\\s<>",;:()\\\\@]*@[A-Za-z0-9.-]+$' }), {
          title: 'May get reports',
          maxItems: 100,
          uniqueItems: true,
          description: 'addresses beside To that reports may be sent to; @example.org is everyone of the domain',
        }),
      ),
      console_url: Type.Optional(Type.String({ maxLength: 500, pattern: '^https?://\\S+$' })),
    },
    { additionalProperties: false },
  ),
  receiver: (config) => `${configOf(config).host}:${configOf(config).port}`,
  check: (config, secret) => {
    if (configOf(config).user === undefined && secret !== null)
      throw unfit('/config/user', 'is missing', 'a password needs a user; leave both out where none is asked for');
  },
  // plain text goes to hosts that the operator names only, as plain http does
  address: (config) => {
    const { host, port, security } = configOf(config);
    return `${security === 'none' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  },
  async send(sending, message) {
    const { from, to, host } = configOf(sending.config);
    const { attachment } = message;
    const transport = transportOf(sending);
    const text = [
      ...message.lines.map(plainLine),
      ...(message.more > 0 ? [`… and ${message.more} more`] : []),
      '',
    ].join('\n');
    try {
      const sent = await transport.sendMail({
        from,
        to: message.to ?? to,
        subject: message.subject,
        text,
        messageId: `<${message.id}@gatehouse.invalid>`,
        date: new Date(message.at),
        headers: { 'auto-submitted': 'auto-generated' },
        ...(attachment === undefined
          ? {}
          : {
              attachments: [
                { filename: attachment.name, contentType: attachment.mediaType, content: attachment.content },
              ],
            }),
      });
      if ((sent.rejected ?? []).length > 0)
        throw new SendError('refused', `${host} took it for some of the receivers only.`);
    } catch (error) {
      throw troubleOf(error, host);
    } finally {
      transport.close();
    }
  },
};
