import { z } from 'zod';

const target = z
  .string()
  .refine((text) => /^https?:/.test(text) && URL.canParse(text), 'expected an http or https URL');

const targets = z.array(target).max(16).default([]);

const address = z
  .string()
  .regex(/^[^\s@<>,]+@[^\s@<>,]+$/, 'expected an address such as ops@example.com');

const smtp = z
  .object({
    host: z.string().min(1).describe('Server that takes the mails.'),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('Its port. Default 587, 465 with tls implicit, 25 with tls off.'),
    tls: z
      .enum(['starttls', 'implicit', 'off'])
      .default('starttls')
      .describe('starttls and implicit send nothing in the clear; off is for a server at hand.'),
    user: z.string().min(1).optional().describe('Name to sign in with. Default: without.'),
    password: z.string().min(1).optional().describe('Secret reference of its password.'),
  })
  .refine(
    ({ user, password }) => (user === undefined) === (password === undefined),
    'expected user and password together, or neither',
  );

const mail = z.object({
  to: z
    .union([address.transform((one) => [one]), z.array(address).min(1).max(32)])
    .describe('Address or addresses that are told.'),
  from: address.describe('Address that the mails come from.'),
  smtp: smtp.describe('How mails are sent.'),
});

/** `server.alerts`: the targets of alerts. */
export const alertSettings = z.object({
  webhooks: targets.describe('URLs that get each alert as a webhook, signed like those of runs.'),
  chats: targets.describe(
    'Custom bots of the chats that Schedules know, which get each alert as a text.',
  ),
  mails: z
    .record(z.string().regex(/^[\w.-]{1,64}$/, 'expected letters, digits, . _ and -'), mail)
    .default({})
    .describe('Mails that tell of each alert, by name.'),
});
