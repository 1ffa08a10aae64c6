// Components of distributions beside their advisories: by release, epoch, and the name that the advisory goes by. Pure.
import t from 'tap';
import { advisoryNameOf, packageOf, parsePurl } from '../components/purl.js';
import { judge, type Hit, type Unknown } from './match.js';

const advisories = {
  redHat: ['Red Hat:enterprise_linux:9::baseos', 'dbus-libs', '1:1.12.20-8.el9'],
  rocky: ['Rocky Linux:9', 'dbus', '1:1.12.20-8.el9'],
  suse: ['SUSE:Linux Enterprise Server 15 SP5', 'dbus-1', '1.12.2-150400.18.8.1'],
  leap: ['openSUSE:Leap 15.5', 'dbus-1', '1.12.2-150400.18.8.1'],
  mageia: ['Mageia:9', 'dbus', '1.14.0-2.mga9'],
  debian: ['Debian:12', 'openssl', '3.0.11-1~deb12u2'],
  ubuntu: ['Ubuntu:22.04:LTS', 'openssl', '3.0.2-0ubuntu1.15'],
} as const;

/** What the component is to the advisory; null: it is another package. */
function answerOf([ecosystem, name, fixed]: readonly [string, string, string], version: string, purl: string) {
  const parsed = parsePurl(purl);
  const called = parsed === null ? null : advisoryNameOf(parsed);
  if (called === null || called.package !== packageOf(ecosystem, name)) return null;
  const component = { id: 1, name, version, purl, package: called.package };
  const events = [['introduced', '0'] as const, ['fixed', fixed] as const];
  const entry = {
    osv_id: 'A-1',
    ecosystem,
    release: ecosystem.split(':').slice(1).join(':'),
    package: called.package,
    ranges: [{ type: 'ECOSYSTEM', events }],
    versions: [],
  };
  const [hits, unknown]: [Hit[], Unknown[]] = [[], []];
  judge(component, [entry], hits, unknown);
  return hits.length > 0 ? 'affected' : unknown.length > 0 ? 'unknown' : 'not affected';
}

const cases: readonly (readonly [keyof typeof advisories, string, string, ReturnType<typeof answerOf>])[] = [
  ['redHat', '1:1.12.20-7.el9', 'rpm/redhat/dbus-libs@1.12.20-7.el9?distro=rhel-9.3&epoch=1', 'affected'],
  ['redHat', '1.12.20-7.el9', 'rpm/redhat/dbus-libs@1.12.20-7.el9?distro=rhel-9.3&epoch=1', 'affected'],
  ['redHat', '1.12.20-8.el9', 'rpm/redhat/dbus-libs@1.12.20-8.el9?distro=rhel-9.3&epoch=1', 'not affected'],
  ['redHat', '', 'rpm/redhat/dbus-libs@1.12.20-8.el9_1?distro=rhel-9.3&epoch=1', 'not affected'],
  ['redHat', '1.12.20-9.el9', 'rpm/redhat/dbus-libs@1.12.20-9.el9?distro=rhel-9.3', 'affected'],
  ['redHat', '1.12.20-7.el8', 'rpm/redhat/dbus-libs@1.12.20-7.el8?distro=rhel-8.10&epoch=1', 'not affected'],
  ['redHat', '1.12.20-7.el9', 'rpm/redhat/dbus-libs@1?upstream=dbus-1.12.20-7.el9.src.rpm&epoch=1', 'affected'],
  ['redHat', 'a b', 'rpm/redhat/dbus-libs@a?distro=rhel-9.3', 'unknown'],
  ['redHat', '1', 'rpm/redhat/dbus@1', null],
  ['rocky', '1:1.12.20-7.el9', 'rpm/rocky/dbus@1.12.20-7.el9?distro=rocky-9.3', 'affected'],
  ['suse', '1.12.2-150400.18.7.1', 'rpm/suse/a@1?distro=sles-15.5&upstream=dbus-1-1.12.2-1.1.src.rpm', 'affected'],
  ['suse', '1.12.2-150400.18.8.1', 'rpm/suse/a@1?distro=sles-15.5&upstream=dbus-1-1.12.2-1.1.src.rpm', 'not affected'],
  ['suse', '1.12.2-150400.18.7.1', 'rpm/suse/dbus-1@1?distro=sles-15.4', 'not affected'],
  ['leap', '1.12.2-150400.18.7.1', 'rpm/opensuse/dbus-1@1?distro=opensuse-leap-15.5', 'affected'],
  ['mageia', '1.14.0-1.mga9', 'rpm/mageia/dbus@1.14.0-1.mga9?distro=mageia-9', 'affected'],
  ['debian', '3.0.11-1~deb12u1', 'deb/debian/libssl3@1?upstream=openssl&distro=debian-12.4', 'affected'],
  ['debian', '3.0.11-1~deb12u2', 'deb/debian/libssl3@1?upstream=openssl%403.0&distro=debian-12.4', 'not affected'],
  ['ubuntu', '3.0.2-0ubuntu1.14', 'deb/ubuntu/openssl@1?distro=ubuntu-22.04', 'affected'],
];

t.test('VM1: packages of distributions are told by release, epoch and the name that advisories use', (t) => {
  for (const [which, version, purl, wanted] of cases)
    t.equal(answerOf(advisories[which], version, `pkg:${purl}`), wanted, `${which} ${version} ${purl}`);
  t.end();
});
