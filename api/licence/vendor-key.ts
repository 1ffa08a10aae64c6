// The vendor's public key of this build: `bin/build.mjs` writes it beside this module from LICENCE_PUBLIC_KEY. It is
// fixed with the build and is no setting of a running installation: who may set an environment variable or a setting
// must not be able to replace it. Who can write the build can change the check itself; the file system's permissions
// stand against that, not cryptography.
import { existsSync, readFileSync } from 'node:fs';

const file = new URL('./vendor-key.pem', import.meta.url);

/** PEM (RSA). null: a build without a vendor; it runs as a trial and rejects every licence key. */
export const vendorPublicKey: string | null = existsSync(file) ? readFileSync(file, 'utf8') : null;
