/** What routes know of the port of nodes (NODES_PORT). */
export interface NodePort {
  /** SHA-256 of the CA's certificate (DER), base64url: tokens carry it. */
  readonly fingerprint: string;
  /** Where nodes reach control planes: `https://host:port` (NODES_URLS). */
  readonly addresses: readonly string[];
  /** Whether the node has a tunnel to this control plane. */
  isConnected(name: string): boolean;
  /** A node was revoked: its connections end here at once. */
  revoked(name: string): Promise<void>;
}
