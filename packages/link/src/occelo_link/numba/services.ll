; Made by llvm_from_c.py from sources with the digest d25ff130d62a713c4b7ce7f3169940d9
; with ziglang 0.17.1

%struct.functions = type { ptr, ptr, ptr, ptr, ptr }
%struct.output_record = type { i64, i64, ptr, [64 x i64] }

@numba = internal global %struct.functions zeroinitializer, align 8

define ptr @numba_functions() nounwind {
  ret ptr @numba
}

define ptr @output(ptr %0, i64 %1, ptr %2) nounwind {
  %4 = load i64, ptr %0, align 8
  %5 = getelementptr inbounds i64, ptr %0, i64 %4
  %6 = getelementptr inbounds %struct.output_record, ptr %5, i64 %1
  %7 = load i64, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %9 = load i64, ptr %8, align 8
  %10 = icmp sgt i64 %9, 0
  br i1 %10, label %11, label %22

11:
  %12 = getelementptr inbounds nuw i8, ptr %6, i64 24
  br label %13

13:
  %14 = phi i64 [ 0, %11 ], [ %20, %13 ]
  %15 = phi i64 [ %7, %11 ], [ %19, %13 ]
  %16 = getelementptr inbounds nuw i64, ptr %2, i64 %14
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds nuw i64, ptr %12, i64 %14
  store i64 %17, ptr %18, align 8
  %19 = mul i64 %17, %15
  %20 = add nuw nsw i64 %14, 1
  %21 = icmp eq i64 %20, %9
  br i1 %21, label %22, label %13

22:
  %23 = phi i64 [ %7, %3 ], [ %19, %13 ]
  %24 = load ptr, ptr @numba, align 8
  %25 = tail call ptr %24(i64 %23)
  %26 = getelementptr inbounds nuw i8, ptr %6, i64 16
  store ptr %25, ptr %26, align 8
  %27 = icmp eq ptr %25, null
  br i1 %27, label %31, label %28

28:
  %29 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @numba, i64 8), align 8
  %30 = tail call ptr %29(ptr %25)
  br label %31

31:
  %32 = phi ptr [ %30, %28 ], [ null, %22 ]
  ret ptr %32
}

define ptr @grow(ptr %0, i64 %1) nounwind {
  %3 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @numba, i64 24), align 8
  %4 = add i64 %1, 128
  %5 = tail call ptr %3(i64 %4)
  %6 = icmp eq ptr %5, null
  br i1 %6, label %14, label %7

7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %9 = load i64, ptr %8, align 8
  store i64 %9, ptr %5, align 8
  %10 = ptrtoint ptr %5 to i64
  store i64 %10, ptr %8, align 8
  %11 = add i64 %10, 79
  %12 = and i64 %11, -64
  %13 = inttoptr i64 %12 to ptr
  br label %14

14:
  %15 = phi ptr [ %13, %7 ], [ null, %2 ]
  ret ptr %15
}

define i64 @poll(ptr %0) nounwind {
  ret i64 0
}

define i64 @finish(ptr %0, i64 %1) nounwind {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load i64, ptr %3, align 8
  %5 = icmp eq i64 %4, 0
  br i1 %5, label %6, label %8

6:
  %7 = icmp sgt i64 %1, 0
  br i1 %7, label %15, label %28

8:
  %9 = phi i64 [ %13, %8 ], [ %4, %2 ]
  %10 = inttoptr i64 %9 to ptr
  %11 = load i64, ptr %10, align 8
  store i64 %11, ptr %3, align 8
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @numba, i64 32), align 8
  tail call void %12(ptr %10)
  %13 = load i64, ptr %3, align 8
  %14 = icmp eq i64 %13, 0
  br i1 %14, label %6, label %8

15:
  %16 = phi i64 [ %26, %25 ], [ 0, %6 ]
  %17 = load i64, ptr %0, align 8
  %18 = getelementptr inbounds i64, ptr %0, i64 %17
  %19 = getelementptr inbounds nuw %struct.output_record, ptr %18, i64 %16
  %20 = getelementptr inbounds nuw i8, ptr %19, i64 16
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  br i1 %22, label %25, label %23

23:
  %24 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @numba, i64 16), align 8
  tail call void %24(ptr %21)
  br label %25

25:
  %26 = add nuw nsw i64 %16, 1
  %27 = icmp eq i64 %26, %1
  br i1 %27, label %28, label %15

28:
  ret i64 0
}

