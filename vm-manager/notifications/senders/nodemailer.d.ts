// What is used of nodemailer. Its types on the registry bring the client of a cloud with them.
declare module 'nodemailer' {
  import type { Socket } from 'node:net';
  interface Options {
    readonly host: string;
    readonly port: number;
    readonly secure: boolean;
    readonly requireTLS?: boolean;
    readonly ignoreTLS?: boolean;
    readonly name?: string;
    readonly auth?: { readonly user: string; readonly pass: string };
    readonly connectionTimeout: number;
    readonly greetingTimeout: number;
    readonly socketTimeout: number;
    readonly disableFileAccess: boolean;
    readonly disableUrlAccess: boolean;
    readonly getSocket: (
      options: unknown,
      done: (error: Error | null, made?: { readonly connection: Socket; readonly secured?: boolean }) => void,
    ) => void;
  }
  interface Mail {
    readonly from: string;
    readonly to: readonly string[];
    readonly subject: string;
    readonly text: string;
    readonly messageId: string;
    readonly date: Date;
    readonly headers: Readonly<Record<string, string>>;
    readonly attachments?: readonly {
      readonly filename: string;
      readonly contentType: string;
      readonly content: Buffer;
    }[];
  }
  const nodemailer: {
    createTransport(options: Options): {
      sendMail(mail: Mail): Promise<{ readonly rejected?: readonly unknown[] }>;
      close(): void;
    };
  };
  export default nodemailer;
}
