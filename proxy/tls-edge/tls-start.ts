// What a worker is given to begin the TLS edge with.
import type { CertificateSet, TicketKeys } from './certificates/certificate-set.js';

export interface TlsStart {
  readonly host: string;
  readonly port: number;
  /** Others may listen on it, too: the workers, or main until they do. */
  readonly isShared: boolean;
  readonly certificates: CertificateSet;
  readonly ticketKeys: TicketKeys;
}
