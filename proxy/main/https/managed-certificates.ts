// Certificates that the control plane gives this node (`PUT :2019/certificates`), the whole list each time: tried
// before they serve, and kept sealed on disk, so that the node serves them after a restart before anybody has spoken
// to it.
import { createCipheriv, createDecipheriv, createHash, randomBytes, X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tryCertificate, type CertificateEntry } from '../../tls-edge/certificates/certificate-set.js';
import { namesOf } from '../../tls-edge/certificates/certificate-files.js';
import { writeAtomically } from '../atomic-file.js';

/** As it is sent. `id` names one issue of a certificate for whoever sent it. */
interface GivenCertificate {
  readonly id: string;
  readonly chain: string;
  readonly key: string;
}

const certificatesMax = 10_000;

const isGiven = (value: unknown): value is GivenCertificate => {
  const { id, chain, key } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) && typeof chain === 'string' && typeof key === 'string';
};

function toEntry({ id, chain, key }: GivenCertificate): CertificateEntry {
  try {
    const certificate = new X509Certificate(chain);
    tryCertificate(chain, key);
    const names = namesOf(certificate);
    if (names.length === 0) throw new Error('it names no host');
    return { source: `certificate ${id}`, chain, key, names, notAfterMs: Date.parse(certificate.validTo) };
  } catch (error) {
    throw new RangeError(`the certificate ${id} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

function read(value: unknown): readonly GivenCertificate[] {
  const { certificates } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(certificates) || !certificates.every(isGiven))
    throw new RangeError('send {"certificates": [{"id": …, "chain": PEM, "key": PEM, not encrypted}]}');
  if (certificates.length > certificatesMax) throw new RangeError(`at most ${certificatesMax} certificates`);
  return certificates.map(({ id, chain, key }) => ({ id, chain, key }));
}

export class ManagedCertificates {
  private given: readonly GivenCertificate[] = [];
  private chain: Promise<unknown> = Promise.resolve();

  /** `sealKey`: 32 bytes that only this installation knows. */
  constructor(
    private readonly dataDir: string,
    private readonly sealKey: Buffer,
    private readonly onProblem: (message: string) => void,
    private readonly use: (entries: readonly CertificateEntry[]) => void,
  ) {}

  private get path(): string {
    return join(this.dataDir, 'tls', 'managed.sealed');
  }

  /** Which issues serve, in the order in which they were given. */
  get ids(): readonly string[] {
    return this.given.map(({ id }) => id);
  }

  /** Of the list as it was sent. */
  get sha256(): string {
    return digestOf(this.given);
  }

  /** Takes up those that served before a restart. */
  async resume(): Promise<void> {
    try {
      const sealed = await readFile(this.path);
      this.put(read(JSON.parse(this.open(sealed))));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // never had one
      this.onProblem(
        `the certificates in ${this.path} cannot be used (${(error as Error).message}); ` +
          'they serve again when the control plane has sent them',
      );
    }
  }

  /** The whole list. Throws RangeError, and leaves what serves, where one of them cannot be used. */
  replace(value: unknown): Promise<void> {
    const given = read(value);
    for (const one of given) toEntry(one);
    const done = this.chain.then(() => this.keep(given));
    this.chain = done.catch(() => {}); // told to whoever sent it
    return done;
  }

  private async keep(given: readonly GivenCertificate[]): Promise<void> {
    this.put(given);
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await writeAtomically(this.path, this.seal(JSON.stringify({ certificates: given }))).catch((error: unknown) =>
      this.onProblem(`certificates serve, and are not kept for a restart: ${(error as Error).message}`),
    );
  }

  private put(given: readonly GivenCertificate[]): void {
    this.use(given.map(toEntry));
    this.given = given;
  }

  private seal(plain: string): Buffer {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.sealKey, iv);
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]);
  }

  private open(sealed: Buffer): string {
    const decipher = createDecipheriv('aes-256-gcm', this.sealKey, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(12, 28));
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
  }
}

const digestOf = (given: readonly GivenCertificate[]): string =>
  createHash('sha256').update(JSON.stringify(given)).digest('hex');
