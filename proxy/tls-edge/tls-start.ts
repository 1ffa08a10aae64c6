// What a worker is given to begin the TLS edge with.
import type { CertificateSet, TicketKeys } from './certificates/certificate-set.js';

export interface TlsStart {
  readonly host: string;
  readonly port: number;
  readonly certificates: CertificateSet;
  readonly ticketKeys: TicketKeys;
}
