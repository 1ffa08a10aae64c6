// The Debian package: the tree below /usr/lib/gatehouse, units, manual page, completion. The same bytes every time
// (SOURCE_DATE_EPOCH, owner 0, one compression).
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { normalize } from './archives.js';
import { bashCompletion, manualPage } from './command-pages.js';
import { run } from './commands.js';
import type { ReleaseInput } from './tree.js';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
export const debianArchitecture = (): string => architectures[process.arch] ?? process.arch;
export const packageFileName = (version: string): string => `gatehouse_${version}_${debianArchitecture()}.deb`;

const maintainer = 'Gatehouse maintainers <maintainers@gatehouse.invalid>';
/** Read in the order of their start. */
export const units = [
  'gatehouse-data-plane',
  'gatehouse-control-plane',
  'gatehouse-console',
  'gatehouse-demo',
] as const;

/** Packages that the program needs and that Debian keeps secure: nothing of them is copied into the tree. */
export const systemDependencies = (): string[] => [
  process.arch === 'arm64' ? 'libvectorscan5' : 'libhyperscan5',
  'libmodsecurity3',
];

function control(version: string, kibibytes: number): string {
  return [
    'Package: gatehouse',
    `Version: ${version}`,
    'Section: httpd',
    'Priority: optional',
    `Architecture: ${debianArchitecture()}`,
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${kibibytes}`,
    `Depends: libc6 (>= 2.36), libgcc-s1 (>= 12), libstdc++6 (>= 12), ${systemDependencies().join(', ')}`,
    'Recommends: ca-certificates, curl, logrotate',
    'Suggests: postgresql, redis-server',
    'Homepage: https://gatehouse.invalid/',
    'Description: web application firewall and vulnerability manager',
    ' Gatehouse inspects every HTTP request with the OWASP Core Rule Set before it',
    ' reaches an application, and blocks attacks. A control plane with a web console',
    ' changes rules while they serve, explains every decision, and keeps records.',
    ' .',
    ' The package carries its own Node.js, since Debian 12 has a release of it that',
    ' is too old; the regular expression library Hyperscan comes from Debian.',
    '',
  ].join('\n');
}

const started = units.filter((unit) => unit !== 'gatehouse-demo').map((unit) => `${unit}.service`);
const all = units.map((unit) => `${unit}.service`);

const postinst = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  /usr/lib/gatehouse/bin/prepare-host
  for unit in ${started.join(' ')}; do
    deb-systemd-helper unmask "$unit" >/dev/null || true
    deb-systemd-helper --quiet was-enabled "$unit" && deb-systemd-helper enable "$unit" >/dev/null || true
  done
  # the demo shop stands in until an application is named
  if ! grep -q '^UPSTREAM_CUSTOMER=.' /etc/gatehouse/.env; then
    deb-systemd-helper enable gatehouse-demo.service >/dev/null || true
  fi
  if [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    if [ -n "$2" ]; then action=restart; else action=start; fi
    grep -q '^UPSTREAM_CUSTOMER=.' /etc/gatehouse/.env ||
      deb-systemd-invoke "$action" gatehouse-demo.service >/dev/null || true
    deb-systemd-invoke "$action" ${started.join(' ')} >/dev/null || true
  fi
fi
exit 0
`;
const prerm = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop ${all.join(' ')} >/dev/null || true
fi
exit 0
`;
const postrm = `#!/bin/sh
set -e
case "$1" in
remove)
  if [ -d /run/systemd/system ]; then systemctl --system daemon-reload >/dev/null || true; fi
  ;;
purge)
  for unit in ${all.join(' ')}; do deb-systemd-helper purge "$unit" >/dev/null || true; done
  # purge is the word for: with everything that it wrote
  rm -rf /etc/gatehouse /var/lib/gatehouse /var/log/gatehouse
  ;;
esac
exit 0
`;

const copyright = (licence: string): string =>
  [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
    'Upstream-Name: gatehouse',
    '',
    'Files: *',
    'Copyright: the Gatehouse authors',
    'License: Apache-2.0',
    ' On Debian systems the text of the licence is in',
    ' /usr/share/common-licenses/Apache-2.0. Packages below',
    ' /usr/lib/gatehouse/node_modules have licences of their own, each in its',
    ' folder; the OWASP Core Rule Set below /usr/lib/gatehouse/seed is Apache-2.0.',
    '',
    licence.trim(),
    '',
  ].join('\n');

/** What lintian says of every package that carries its own runtime, and why it stands. */
const overrides = [
  '# Bundled npm packages and Node.js, exact versions from the lock file: Debian has neither.',
  'gatehouse: embedded-library *',
  'gatehouse: embedded-javascript-library *',
  'gatehouse: unstripped-binary-or-object *',
  'gatehouse: hardening-no-pie *',
  '# Licences of bundled packages lie beside them: each licence asks for that.',
  'gatehouse: extra-license-file *',
  'gatehouse: package-contains-documentation-outside-usr-share-doc *',
  '# Scripts of bundled packages that nobody starts keep the modes of their archives.',
  'gatehouse: script-not-executable *',
  'gatehouse: executable-not-elf-or-script *',
  'gatehouse: national-encoding *',
  '# The font of PDF reports is that of the lock file, so that a report is the same wherever it is made.',
  'gatehouse: duplicate-font-file *',
  '# Not in the archive of Debian.',
  'gatehouse: initial-upload-closes-no-bugs *',
  'gatehouse: bogus-mail-host-in-debian-changelog *',
  'gatehouse: bogus-mail-host *',
  '',
].join('\n');

const stable = (bytes: Buffer): Buffer => {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 3; // made on Unix, as gzip -n says
  return packed;
};

function write(path: string, content: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}

/** Lays out the files of the package below `at`, without its control files. */
export function layOut(input: ReleaseInput, tree: string, at: string): void {
  const from = (path: string): string => join(input.root, 'deploy/native', path);
  const date = new Date(input.epoch * 1000);
  cpSync(tree, join(at, 'usr/lib/gatehouse'), { recursive: true });
  write(join(at, 'usr/bin/gatehouse'), readFileSync(from('gatehouse.sh')), 0o755);
  write(join(at, 'usr/lib/gatehouse/bin/prepare-host'), readFileSync(from('prepare-host.sh')), 0o755);
  for (const unit of units)
    write(join(at, `usr/lib/systemd/system/${unit}.service`), readFileSync(from(`systemd/${unit}.service`)));
  write(join(at, 'usr/lib/sysusers.d/gatehouse.conf'), readFileSync(from('systemd/sysusers.conf')));
  write(join(at, 'usr/lib/tmpfiles.d/gatehouse.conf'), readFileSync(from('systemd/tmpfiles.conf')));
  write(join(at, 'etc/logrotate.d/gatehouse'), readFileSync(from('systemd/logrotate')));
  write(join(at, 'usr/share/bash-completion/completions/gatehouse'), bashCompletion());
  const manual = manualPage(input.version, date.toISOString().slice(0, 10));
  write(join(at, 'usr/share/man/man8/gatehouse.8.gz'), stable(Buffer.from(manual)));
  const documents = join(at, 'usr/share/doc/gatehouse');
  write(join(documents, 'copyright'), copyright(readFileSync(join(input.root, 'NOTICE'), 'utf8')));
  const time = date.toUTCString().replace('GMT', '+0000');
  const body = `  * Release ${input.version}.\n\n -- ${maintainer}  ${time}\n`;
  const entry = `gatehouse (${input.version}) stable; urgency=medium\n\n${body}`;
  write(join(documents, 'changelog.gz'), stable(Buffer.from(entry)));
  write(join(at, 'usr/share/lintian/overrides/gatehouse'), overrides);
}

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);

/** Builds the package of `tree` as `file`; `scratch` is used and emptied. Throws ReleaseError. */
export function buildPackage(input: ReleaseInput, tree: string, scratch: string, file: string): void {
  rmSync(scratch, { recursive: true, force: true });
  layOut(input, tree, scratch);
  write(join(scratch, 'DEBIAN/control'), control(input.version, Math.ceil(sizeOf(scratch) / 1024)));
  write(join(scratch, 'DEBIAN/conffiles'), '/etc/logrotate.d/gatehouse\n');
  for (const [name, text] of Object.entries({ postinst, prerm, postrm }))
    write(join(scratch, 'DEBIAN', name), text, 0o755);
  normalize(scratch, input.epoch);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(input.epoch) };
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z3', '--build', scratch, file], { env });
  rmSync(scratch, { recursive: true, force: true });
}
