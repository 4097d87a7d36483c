/** `node --import` this, and the process is offline before its program begins. */
import { armOfflineGuard } from "./offline-guard.ts";

armOfflineGuard();
