// What the control plane gives a node for HTTPS: certificates, and the challenges by which authorities prove names.
import { createHash } from 'node:crypto';
import { readChallenges, type ChallengeTable } from '../../tls-edge/challenges/challenge-table.js';
import type { CertificateStore } from '../../tls-edge/certificates/certificate-store.js';
import { ManagedCertificates } from './managed-certificates.js';

export interface HttpsOptions {
  readonly dataDir: string;
  readonly sealKey: Buffer;
  /** null: the node has no TLS edge, and takes no certificates. */
  readonly certificates: CertificateStore | null;
  readonly onProblem: (message: string) => void;
}

export class HttpsState {
  /** null: none were given yet. */
  challenges: ChallengeTable | null = null;
  /** Called with each new table. */
  onChallenges: (table: ChallengeTable) => void = () => {};
  private readonly managed: ManagedCertificates | null;

  constructor({ dataDir, sealKey, certificates, onProblem }: HttpsOptions) {
    this.managed =
      certificates === null
        ? null
        : new ManagedCertificates(dataDir, sealKey, onProblem, (entries) => certificates.useManaged(entries));
  }

  async resume(): Promise<void> {
    await this.managed?.resume();
  }

  /** Throws RangeError for what is no table of challenges. */
  replaceChallenges(value: unknown): void {
    const table = readChallenges(value);
    this.challenges = table;
    this.onChallenges(table);
  }

  /** Throws RangeError for what is no list of certificates that can be used. */
  async replaceCertificates(value: unknown): Promise<void> {
    if (this.managed === null)
      throw new RangeError('this node has no TLS edge (TLS_EDGE=off): it takes no certificates');
    await this.managed.replace(value);
  }

  /** `GET /https`: how the control plane sees whether this node has what it sent. */
  describe(): object {
    const { challenges, managed } = this;
    return {
      challenges: challenges === null ? '' : createHash('sha256').update(JSON.stringify(challenges)).digest('hex'),
      certificates: managed === null ? null : { sha256: managed.sha256, ids: managed.ids },
    };
  }
}
