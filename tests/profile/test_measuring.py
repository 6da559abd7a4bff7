"""A real directory measured with a real fio, and what is refused before anything is touched."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from diskproof.profile import fio
from diskproof.profile.measure import Order, profile
from diskproof.profile.place import Wanted, look_at
from diskproof.profile.plan import FULL, QUICK, plan_cells
from diskproof.refusal import RefusalError
from diskproof.results.profile import Profile, read_profile, write_profile
from profile.conftest import EFFORT, SIZE_BYTES, Ear
