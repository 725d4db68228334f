/**
 * What to do about each error, in one sentence: docs/errors.md is made from it. A message of an error says what happened,
 * with its values; this says what helps. Pure.
 */
import type { ErrorCode } from './errors.ts'

export const ERROR_REMEDY = {
  'option-invalid': 'Correct the option, environment variable or config field that the message names.',
  'file-not-found': 'Check the path; the message says which command makes the file.',
  'file-unreadable':
    'Check that the path is a file (or a folder where one is asked for) and that you may read or write it.',
  'format-unknown': 'Name the format with `--format`; the message lists the known ones.',
  'format-ambiguous': 'Name one of the listed candidates with `--format`.',
  'log-malformed': 'The file is not of that format: try another `--format`, or leave the file out.',
  'archive-refused': 'Unpack the archive yourself if you trust it, and import its files; the message names the limit.',
  'rows-invalid': 'Make the file again with the command that writes it; the message names the line.',
  'history-malformed':
    'Send the message list as your provider has it, with its format; the message points at the place.',
  'history-incomplete': 'Ask again once one model call and all its results are in the history.',
  'case-malformed': 'Write the case as ../shared/cases/README.md describes it; one JSON object a file.',
  'labels-mismatch': 'Annotate the same runs.jsonl that you pass.',
  'runs-incomparable': 'Compare routers that were trained with one seed on datasets of the same runs.',
  'request-invalid': 'Correct the request body; `GET /openapi.json` has the shapes.',
  'body-too-large': 'Send less, or raise `--max-body-bytes`.',
  'route-not-found': 'See `GET /openapi.json` for the routes.',
  'media-type-unsupported': 'Send `content-type: application/json`.',
  'host-not-allowed': 'Name the host with `--allowed-hosts`, or set a token.',
  'origin-not-allowed': "Call the server from your agent's process, not from a web page.",
  unauthorized: 'Send the header `Authorization: Bearer TOKEN`.',
  'port-in-use': 'Stop what listens there, or choose another `--port` (0 takes a free one).',
  'listen-refused':
    'Listen on 127.0.0.1, or set a token with `--token-file`; check that the address is of this machine.',
  'training-data-insufficient': 'Import and label more runs; `keepready labels stats` shows what there is.',
  'consent-required':
    'Read what would be sent or downloaded, then say `--yes`; for `annotate`, `--redact` masks secrets first and `--estimate` sends nothing.',
  'endpoint-refused': 'Check the endpoint, the model name, the API key and the account that the message names.',
  'model-not-found': 'Give the directory of the checkpoint with `--model DIR`, or `tiny` for the embedded one.',
  'config-invalid': "Download the model's config.json again, or correct the field that the message names.",
  'architecture-unsupported': 'Use a model of one of the listed architectures.',
  'tokenizer-missing': "Put the model's tokenizer.json beside its config.json.",
  'tokenizer-invalid': "Download the model's tokenizer files again.",
  'safetensors-missing': "Download the model's .safetensors files into its directory.",
  'safetensors-truncated': 'The download is not complete: get the file again.',
  'safetensors-header-invalid': 'The file is damaged or no safetensors file: get it again.',
  'safetensors-offset-invalid': 'The file is damaged: get it again.',
  'tensor-mismatch':
    'Weights and config.json (or router and features) do not belong together: use files of one release.',
  'model-link-escapes': 'Replace the link that leaves the model directory by the file itself.',
  'weights-not-finite':
    'The named tensor holds NaN or infinity: get the file again, or take another release of the model.',
  'gguf-invalid': 'The GGUF file is damaged or cut off: get it again.',
  'gguf-unsupported':
    'Use a GGUF of one of the listed kinds, or the safetensors checkpoint of the same model (`keepready models pull`).',
  'download-mismatch': 'Pull again; if it happens again, the server or a proxy in between changes the file.',
  'layer-out-of-range': 'Choose a `--layer` within the range that the message gives.',
  'router-invalid': 'Train the router again; the message names the file.',
  'router-version-unsupported': 'Use the keepready version that wrote the router, or train it again.',
  'representation-mismatch':
    'Use the model, layer and recipe that the router was trained with, or extract and train again.',
  'dataset-incomplete': 'Run `keepready extract` with the same options again: it goes on where it stopped.',
  'dataset-invalid': 'Run `keepready extract` again with `--fresh`; the message names the damaged file.',
  'queue-full': 'Retry after the seconds of the Retry-After header, or raise `--max-queue-tokens`.',
  'deadline-exceeded': 'Retry when the queue is shorter, send a shorter history, or raise `--deadline-ms`.',
  'server-draining': 'The server is stopping: send the request to another one, or later.',
  'disk-full': 'Free some room and run the same command again: what is finished is kept.',
  'context-too-short': 'Choose a smaller `--view-budget`, or a model with a longer context.',
  'memory-budget-too-small':
    'Raise `--memory-mb` to what the message names, lower `--view-budget` or `--layer`, or keep the weights mapped.',
  'endpoint-unreachable':
    'Run the same command again once the endpoint answers: no answer that came is asked for again.',
  'device-unavailable': 'Ask `keepready devices` what is missing and what to do; `--device cpu` always works.',
  'device-self-check-failed':
    'Update the driver of the device, or use `--device cpu`: the device gives other hidden states than the CPU.',
  'engine-unavailable': 'Install what the message names, or train with `--backend ort-cpu`, which is always there.',
  'session-failed': 'The model runtime refused the model or failed in it; report the message if other models work.',
  'host-crashed': 'Send the request again: the process that failed has been started anew.',
  'output-not-finite': 'The model gives numbers out of range: use `--storage f32`, another layer or other weights.',
  invariant: 'A bug in keepready: report it with the stack (command line) or the request id (server).',
  interrupted: 'Run the same command again; extract and train go on where they stopped.',
} as const satisfies Readonly<Record<ErrorCode, string>>
