// Jobs of who manages vulnerabilities, programs and people.
import { arrive } from '../stack.js';
import { button, dialog, field, row, seen, type Job } from './firewall-jobs.js';

const reports = '/vulnerabilities/reports';
const assessments = '/vulnerabilities/assessments';

const reportJobs: readonly Job[] = [
  {
    name: 'build a report',
    begin: (page) => arrive(page, reports),
    async run(page, hand, mark) {
      await hand.type(field(page, 'Title'), `For the board, ${mark}`);
      await hand.press(button(page, 'Build a report'));
      await row(page, `For the board, ${mark}`).waitFor();
    },
  },
  {
    name: 'send a report by e-mail',
    begin: (page) => arrive(page, reports),
    async run(page, hand, mark) {
      await hand.press(row(page, `For the board, ${mark}`).getByRole('button', { name: /^Send report/ }));
      const form = dialog(page, 'Send by e-mail');
      await field(form, 'Recipients').waitFor();
      await hand.press(button(form, 'Send'));
      await form.waitFor({ state: 'hidden' });
      await page.getByRole('table', { name: 'Sent reports' }).getByText(`For the board, ${mark}`).waitFor();
    },
  },
  {
    name: 'send a report every week',
    begin: (page) => arrive(page, reports),
    async run(page, hand, mark) {
      await hand.press(button(page, 'Schedule'));
      const form = dialog(page, 'Build and send regularly');
      await hand.type(field(form, 'Name'), `weekly, ${mark}`);
      await hand.press(button(form, 'Save schedule'));
      await seen(page, 'The schedule is saved. It is listed under Scans, Schedules.');
      await arrive(page, '/vulnerabilities/schedules');
      await row(page, `weekly, ${mark}`).waitFor();
    },
  },
];

const findingJobs: readonly Job[] = [
  {
    name: 'write a finding of an item that failed',
    async begin(page) {
      await arrive(page, assessments);
    },
    async run(page, hand, mark) {
      await hand.openRow(row(page, `pentest ${mark}`));
      const drawer = dialog(page, 'Assessment');
      await hand.choose(drawer.getByLabel('Result of orders of others can be read'), 'failed');
      await hand.press(button(drawer, 'Write a finding of it'));
      const form = dialog(page, 'Write a finding of it');
      await hand.choose(field(form, 'Severity'), 'high');
      await hand.press(button(form, 'Write a finding of it'));
      await drawer.getByRole('link', { name: /^Finding \d+$/ }).waitFor();
    },
  },
  {
    name: 'ask for a vulnerability to be accepted everywhere',
    begin: (page) => arrive(page, '/vulnerabilities/acceptances'),
    async run(page, hand, mark) {
      await hand.press(button(page, 'Accept a vulnerability everywhere'));
      const form = dialog(page, 'Accept a vulnerability everywhere');
      await hand.type(field(form, 'Vulnerability'), 'CVE-2021-44228');
      await hand.type(field(form, 'Title'), `until the upgrade, ${mark}`);
      await hand.type(field(form, 'Why it is tolerable'), 'Lookups are switched off.');
      await hand.press(button(form, 'Ask for acceptance'));
      await row(page, `until the upgrade, ${mark}`).waitFor();
    },
  },
];

const adminJobs: readonly Job[] = [
  {
    name: 'make an API token, renew it and revoke it',
    begin: (page) => arrive(page, '/admin/tokens?add-vm=1'),
    async run(page, hand, mark) {
      const form = dialog(page, 'New token');
      await hand.type(field(form, 'Name'), `pipeline ${mark}`);
      await hand.press(button(form, 'Make the token'));
      await seen(page, 'Keep it where your program keeps secrets. It is shown once.');
      await hand.press(button(row(page, `pipeline ${mark}`), 'Renew'));
      await seen(page, /in the place of the one before/);
      await hand.press(button(row(page, `pipeline ${mark}`), 'Revoke'));
      await seen(page, `The token pipeline ${mark} is revoked.`);
    },
  },
  {
    name: 'let somebody look',
    begin: (page) => arrive(page, '/admin/users'),
    async run(page, hand, mark) {
      await hand.press(button(page, 'New user'));
      const form = page.getByRole('dialog');
      await hand.type(field(form, 'E-mail'), `${mark}@shop.example`);
      await hand.type(field(form, 'First password'), 'first-word-of-many-77');
      await hand.press(button(form, 'Add'));
      await row(page, `${mark}@shop.example`).waitFor();
    },
  },
  {
    name: 'verify the audit log',
    begin: (page) => arrive(page, '/admin/audit'),
    async run(page, hand) {
      await hand.press(button(page, 'Verify the chain'));
      await seen(page, /The chain is whole/);
    },
  },
];

export const managerJobs: readonly Job[] = [...reportJobs, ...findingJobs, ...adminJobs];
