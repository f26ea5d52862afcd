// A catalog that is lost or older than the facts is made again from them, and nothing is lost silently.
import { transcripts } from '../transcript.ts';

transcripts('rebuilds');
