/**
 * The vendor's public key (PEM, RSA), written here by `vendor-sign keygen` when a vendor makes a build. null: a build
 * without a vendor; it runs as a trial and rejects every licence key. The private half never enters this repository.
 */
export const vendorPublicKey: string | null = null;
