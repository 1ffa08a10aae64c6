// What lies in a pack for those who have nothing else: how to verify it, as a text and as a script.

/** POSIX sh with openssl 3 and sha256sum; the exit code is 0 where all holds. */
export const verifyScript = `#!/bin/sh
# Verifies this pack without the product: sh verify.sh [public-key.pem that you got elsewhere]
set -eu
key=\${1:-}
case $key in '' | /*) ;; *) key=$PWD/$key ;; esac
cd "$(dirname "$0")"
key=\${key:-public-key.pem}
openssl pkey -pubin -in "$key" -noout
echo "Key: $(openssl pkey -pubin -in "$key" -outform DER | tail -c 32 | sha256sum | cut -c 1-32)"
openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
sha256sum --check --strict --quiet SHA256SUMS
listed=$({ cut -c 67- SHA256SUMS; printf '%s\\n' SHA256SUMS SHA256SUMS.sig SHA256SUMS.minisig; } | sort)
found=$(find . ! -type d | sed 's|^\\./||' | sort)
if [ "$found" != "$listed" ]; then
  echo 'added, or missing:'
  printf '%s\\n%s\\n' "$found" "$listed" | sort | uniq -u
  exit 1
fi
links=$(find . ! -type d ! -type f)
[ -z "$links" ] || { echo "no plain file: $links"; exit 1; }
if [ -f items/audit.jsonl ]; then
  before=''
  exec 3< items/audit-hashes.txt
  while IFS= read -r line; do
    IFS= read -r hash <&3
    [ "$(printf %s "$line" | sha256sum | cut -c 1-64)" = "$hash" ] || { echo "changed: $line"; exit 1; }
    case "$before" in '') ;; *) case $line in *"\\"$before\\"]") ;; *) echo "gap before: $line"; exit 1 ;; esac ;; esac
    before=$hash
  done < items/audit.jsonl
fi
echo 'The pack holds: signature, every file, no further file, and the chain of the audit log.'
`;

export const readme = (brand: string, keyId: string): string => `Pack of evidence, built by ${brand}

manifest.json        what each file is, where it came from, when it was collected, and which controls it is for
SHA256SUMS           SHA-256 of every file
SHA256SUMS.sig       Ed25519 signature over SHA256SUMS (64 bytes)
SHA256SUMS.minisig   the same for minisign
public-key.pem       the key, also as public-key.minisign
items/               the evidence: JSON, and JSON Lines with one record a line
files/               files that people added

Verify it with sh verify.sh, or by hand:

  openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
  sha256sum --check --strict SHA256SUMS
  minisign -Vm SHA256SUMS -p public-key.minisign

A key that lies beside what it signs proves nothing: compare its id with the one that the installation shows
(Evidence in the console, GET /api/v1/evidence/keys). The id of this pack's key is ${keyId}: the first 32 digits of
SHA-256 over the 32 bytes of the key.

items/audit.jsonl has the entries of the audit log as they were hashed, one a line: id, moment, actor, id of the actor,
role, address, action, summary, details, and the hash of the entry before. Line n of items/audit-hashes.txt is the
SHA-256 of line n without its line end, and is the last member of line n + 1.
`;
