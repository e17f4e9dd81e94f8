"""What an instructor or a maintainer makes from the course: releases, grades, slides, the site."""
