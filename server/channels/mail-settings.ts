import type { Settings } from '../settings/settings.ts';

/** The setting that mail needs and that is not set. */
export function missingMailSetting({ smtpUrl, mailFrom }: Settings): string | undefined {
  if (smtpUrl === '') return 'ORDINATE_SMTP_URL';
  return mailFrom === '' ? 'ORDINATE_MAIL_FROM' : undefined;
}
